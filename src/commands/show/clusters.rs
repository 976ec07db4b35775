//! `clusters`: every cluster of the fleet, and whether the placement is for it.

mod suggest;

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::placement_objects::{self, KnownTexts, PlacementObjects};
use crate::commands::gather::reading::{InputArgs, SourceReading};
use crate::commands::gather::runs;
use crate::commands::gather::session::Session;
use crate::commands::output::Output;
use crate::error::Error;
use crate::exit::Exit;
use crate::inventory::Inventory;
use crate::inventory::source::{HubQuery, NOT_COLLECTED, ObjectSource};
use crate::kubefleet::binding::Binding;
use crate::kubefleet::member::MemberCluster;
use crate::kubefleet::snapshot::PolicySnapshot;
use crate::kubefleet::strategy::Strategy;
use crate::kubefleet::{Concept, Kind, ObjectRef, duration, names, qualified_name};
use crate::problems::scheduling::{by_policy, not_picked};
use crate::render::table::{Column, Table};
use crate::report::{NotChecked, Subject, TypeMeta};
use crate::rollout::Undelivered;
use crate::rollout::placing::{selected_clusters, stages_of};
use crate::rollout::sent::sent_index;
use suggest::{LabelSuggestion, suggest, suggestions};

/// Show which clusters a placement selects and why
///
/// Lists every member cluster: whether the placement selects it, and why. Also shows the stage that
/// takes it, its snapshot, its overrides, and its agent. With -v, prints the commands that set the
/// labels which a cluster lacks. Strategies are those of the placement's runs,
/// or those set with --strategy.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage clusters example-placement\n  \
    kubectl fleet-stage clusters example-placement --strategy example-strategy -o wide\n  \
    kubectl fleet-stage clusters example-placement -o json | jq '.items[] | select(.selected | not)'")]
pub struct ClustersArgs {
    /// Placement or a run on it: NAME, crp/NAME, csur/NAME, or with -n rp/NAME, sur/NAME
    /// [default: at a terminal, chosen from a list]
    #[arg(required = true, add = ArgumentKind::Targets, add = ChosenAtTerminal)]
    placement: Option<String>,
    /// Strategy whose stages are shown; repeatable [default: those of the placement's runs]
    #[arg(long = "strategy", value_name = "STRATEGY")]
    #[arg(add = ArgumentKind::Strategies)]
    strategies: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: Output,
}

/// Every member cluster, and whether the placement selects it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterList {
    #[serde(flatten)]
    meta: TypeMeta,
    /// The placement.
    placement: Subject,
    /// The clusters, by name.
    items: Vec<ClusterItem>,
    /// Kinds that could not be listed in full, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<NotChecked>,
}

/// One cluster.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ClusterItem {
    /// Its name.
    name: String,
    /// Whether the placement selects it; absent if that is unknown.
    selected: Option<bool>,
    /// Why, or why not.
    why: String,
    /// The stages that select it, by strategy; a run fails if there are several or none.
    stages: BTreeMap<String, Vec<String>>,
    /// The index of the snapshot that it should have.
    snapshot: Option<String>,
    /// Why it does not have that snapshot: nothing of it is sent, or it is only compared.
    undelivered: Option<Undelivered>,
    /// The overrides that apply to it.
    overrides: Vec<String>,
    /// The state of its member agent.
    agent: String,
    /// Labels that would make the placement, or a stage, select it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<LabelSuggestion>,
}

pub fn run(args: &ClustersArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let mut reading = session.open(&args.input, "clusters")?;
    let ui = &mut *session.ui;
    let target = reading.placement_or_chosen(args.placement.as_deref(), ui)?;
    let useful = [
        Concept::UpdateRun,
        Concept::Binding,
        Concept::PolicySnapshot,
    ];
    let more = [HubQuery::all(Kind::MemberCluster, "")];
    let around =
        placement_objects::read_more(&mut reading, &target, &useful, &more, KnownTexts::default())?;
    reading.no_hub()?;
    runs::warn(&around.gaps, ui);
    let strategies = strategies(&mut reading, &target, &around.inventory, args)?;
    let items = items(&around.inventory, &strategies);
    if let Some(gap) = around
        .inventory
        .members
        .gap
        .as_ref()
        .filter(|_| items.is_empty())
    {
        ui.status(&format!("the member clusters are unknown: {gap}"));
    }
    args.output.print(
        ui,
        |output, ui| {
            let strategies: Vec<_> = strategies.iter().map(|it| it.meta.name.as_str()).collect();
            output.draw(&table(&items, &strategies), ui)
        },
        items
            .iter()
            .map(|item| ObjectRef::new(Kind::MemberCluster, "", &item.name)),
        || list(&items, &around, &target),
    )?;
    if args.output.is_table() && session.global.verbose {
        suggest(&items, ui);
    }
    let was_tried = |gap: &NotChecked| gap.why != NOT_COLLECTED;
    Ok(if around.gaps.iter().any(was_tried) {
        Exit::Incomplete
    } else {
        Exit::Done
    })
}

fn list(items: &[ClusterItem], around: &PlacementObjects, placement: &ObjectRef) -> ClusterList {
    ClusterList {
        meta: TypeMeta::new("ClusterList"),
        placement: Subject::from(placement),
        items: items.to_vec(),
        not_checked: around.gaps.clone(),
    }
}

/// The strategies that were asked for, or those that runs on the placement use.
fn strategies(
    reading: &mut SourceReading,
    placement: &ObjectRef,
    inventory: &Inventory,
    args: &ClustersArgs,
) -> Result<Vec<Strategy>, Error> {
    let scope = placement.scope();
    let names: BTreeSet<String> = if args.strategies.is_empty() {
        let runs = inventory.runs.iter();
        runs.map(|run| run.spec.strategy.clone()).collect()
    } else {
        let words = args.strategies.iter();
        words
            .map(|word| crate::commands::gather::plan_inputs::strategy(word, &scope))
            .collect::<Result<_, _>>()?
    };
    let kind = scope.kind(Concept::Strategy);
    let queries = names.iter();
    let queries: Vec<_> = queries
        .map(|name| HubQuery::named(kind, scope.namespace(), name))
        .collect();
    let answers = reading.answer(&queries);
    let mut found = Vec::new();
    for (name, answer) in names.iter().zip(answers) {
        let strategy = answer.all::<Strategy>().next();
        if strategy.is_none() && !args.strategies.is_empty() {
            let place = reading.place();
            return Err(Error::not_found(format!("{place} has no {kind} {name}")));
        }
        found.extend(strategy.map(|it| it.as_ref().clone()));
    }
    Ok(found)
}

fn items(inventory: &Inventory, strategies: &[Strategy]) -> Vec<ClusterItem> {
    let mut all: BTreeSet<&str> = inventory
        .members
        .iter()
        .map(|member| member.meta.name.as_str())
        .collect();
    let bindings = inventory.bindings.iter();
    all.extend(bindings.map(|binding| binding.spec.cluster.as_str()));
    let policy = inventory.latest_policy();
    let named = policy.map_or(&[][..], PolicySnapshot::named_clusters);
    all.extend(named.iter().map(String::as_str));
    let mut reasons: BTreeMap<&str, String> = BTreeMap::new();
    if let Some(policy) = policy {
        for (why, clusters) in not_picked(policy, inventory) {
            reasons.extend(clusters.into_iter().map(|cluster| (cluster, why.clone())));
        }
        // The scheduler writes down only some of the clusters that it does not pick.
        if policy.policy_type() != "PickFixed" && policy.is_scheduled() {
            for member in inventory.members.iter() {
                let name = member.meta.name.as_str();
                if let (false, Some(why)) = (reasons.contains_key(name), by_policy(policy, member))
                {
                    reasons.insert(name, why);
                }
            }
        }
    }
    let selected = selected_clusters(inventory);
    all.into_iter()
        .map(|name| {
            let member = inventory.member(name);
            let binding = inventory.binding(name);
            let (is_in, why) = describe_selection(inventory, name, &selected, reasons.get(name));
            let stages = strategies.iter().filter_map(|strategy| {
                let stages = stages_of(&strategy.spec, member?)?;
                let stages: Vec<_> = stages.iter().map(|stage| stage.name.clone()).collect();
                Some((strategy.meta.name.clone(), stages))
            });
            ClusterItem {
                name: name.to_owned(),
                selected: is_in,
                why,
                stages: stages.collect(),
                snapshot: binding.and_then(|it| sent_index(inventory, it).map(str::to_owned)),
                undelivered: binding.and_then(Undelivered::of),
                overrides: binding.map(overrides).unwrap_or_default(),
                agent: agent(inventory, name, member),
                suggestions: member
                    .map(|member| suggestions(inventory, strategies, member, is_in))
                    .unwrap_or_default(),
            }
        })
        .collect()
}

/// Whether the placement is for a cluster, and why.
fn describe_selection(
    inventory: &Inventory,
    name: &str,
    selected: &BTreeSet<&str>,
    reason: Option<&String>,
) -> (Option<bool>, String) {
    let policy = inventory.latest_policy();
    let kind = policy.map(PolicySnapshot::policy_type);
    if selected.contains(name) {
        let member = inventory.member(name).filter(|it| !it.is_leaving());
        let judged = policy
            .filter(|it| it.policy_type() != "PickFixed")
            .zip(member);
        let against = judged.and_then(|(policy, member)| by_policy(policy, member));
        if let Some(against) = against.filter(|_| inventory.binding(name).is_some()) {
            let why = format!("it was selected before, and KubeFleet keeps it: {against}");
            return (Some(true), why);
        }
        let why = match kind {
            Some("PickFixed") => "the placement names it",
            Some("PickN") => "picked by PickN",
            Some(_) => "the policy selects every cluster that matches",
            None => "it has a binding",
        };
        return (Some(true), why.to_owned());
    }
    if let Some(binding) = inventory.binding(name)
        && binding.is_unscheduled()
    {
        let why = reason.map_or(String::new(), |why| format!(": {why}"));
        let what = if inventory.member_is_absent(name) {
            "it left the fleet and keeps its content; a run deletes its binding"
        } else {
            "a run removes the placement from it"
        };
        return (Some(false), format!("{what}{why}"));
    }
    match (reason, policy) {
        (Some(reason), _) => (Some(false), reason.clone()),
        (None, Some(policy)) if policy.policy_type() == "PickFixed" => {
            let is_named = policy.named_clusters().iter().any(|it| it == name);
            let why = match (is_named, inventory.member_is_absent(name)) {
                (false, _) => "spec.policy.clusterNames of the placement does not name it",
                (true, true) => "the placement names it, but it is not in the fleet",
                (true, false) => "the placement names it, and the scheduler gives no reason",
            };
            (Some(false), why.to_owned())
        }
        (None, Some(policy)) if policy.is_scheduled() && inventory.bindings.is_complete() => {
            let why = "the policy matches it, and the scheduler gives no reason";
            (Some(false), why.to_owned())
        }
        (None, Some(_)) if !inventory.bindings.is_complete() => {
            (None, "unknown without the bindings".to_owned())
        }
        (None, Some(_)) => (None, "the scheduler has not decided yet".to_owned()),
        (None, None) => (None, "the policy snapshot is unknown".to_owned()),
    }
}

fn overrides(binding: &Binding) -> Vec<String> {
    let names = binding.spec.override_names();
    names
        .map(|it| qualified_name(&it.namespace, names::override_of(&it.name)))
        .collect()
}

fn agent(inventory: &Inventory, name: &str, member: Option<&MemberCluster>) -> String {
    let Some(member) = member else {
        let gone = inventory.member_is_absent(name);
        return if gone { "no MemberCluster" } else { "unknown" }.to_owned();
    };
    if member.is_leaving() {
        return "leaving the fleet".to_owned();
    }
    let heard = member.heard();
    match member.silent_for(inventory.now) {
        _ if heard.is_none() => "never reported".to_owned(),
        Some(silent) => format!("silent for {}", duration::describe(silent)),
        None if member.unhealthy().is_some() => "reports it unhealthy".to_owned(),
        None => "reports".to_owned(),
    }
}

/// `canary`, or with several strategies `rings: canary, fast: none`.
fn stages(item: &ClusterItem, strategies: &[&str]) -> Option<String> {
    let of = |strategy: &str| {
        Some(match item.stages.get(strategy)?.as_slice() {
            [] => "none".to_owned(),
            several => several.join(" + "),
        })
    };
    if let [one] = strategies {
        return of(one);
    }
    let all = strategies.iter();
    let all: Vec<_> = all
        .filter_map(|strategy| Some(format!("{strategy}: {}", of(strategy)?)))
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The index of a snapshot as a table shows it.
pub(super) fn shown_index(index: &str, undelivered: Option<Undelivered>) -> String {
    match undelivered {
        Some(Undelivered::Unsent) => format!("{index} unsent"),
        Some(Undelivered::Compared) => format!("{index} compared"),
        None => index.to_owned(),
    }
}

fn table(items: &[ClusterItem], strategies: &[&str]) -> Table {
    Table::of(items)
        .column(Column::name("CLUSTER"), |item| &item.name)
        .column(Column::new("SELECTED"), |item| match item.selected {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        })
        .column(Column::number("SNAPSHOT").spare(0), |item| {
            let index = item.snapshot.as_deref()?;
            Some(shown_index(index, item.undelivered))
        })
        .column_if(
            !strategies.is_empty(),
            Column::shrinking("STAGE", 8),
            |item| stages(item, strategies),
        )
        .column(Column::shrinking("OVERRIDES", 9).spare(1), |item| {
            item.overrides.join(", ")
        })
        .column(Column::new("AGENT").spare(2), |item| &item.agent)
        .column(Column::wrapping("WHY", 24), |item| &item.why)
        .table()
}
