//! `render`: the manifests that each cluster gets.

pub(in crate::commands) mod changes;
mod document;
mod source;
pub(in crate::commands) mod text;

use std::collections::HashSet;

use clap::Args;
use serde_json::json;

use crate::commands::gather::argument::{ArgumentKind, ChosenAtTerminal};
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::manifests::{self, KEEP, RenderMaterial, WorkQuery};
use crate::commands::gather::reading::InputArgs;
use crate::commands::gather::session::Session;
use crate::commands::output::{self, FormArg, ItemFormat};
use crate::commands::show::snapshots::diff::{hidden, unified, warn_of_masked};
use crate::contents::{self, SecretDisplay};
use crate::error::Error;
use crate::exit::Exit;
use crate::kubefleet::Concept;
use crate::kubefleet::binding::Binding;
use crate::kubefleet::object::KeptObjects;
use crate::manifests::{
    INSIDE_ENVELOPES, ObjectDifference, RenderFault, RenderedClusters, WorkGenerator,
};
use crate::report::NotChecked;
use crate::ui::Ui;
use crate::words::{CommandLine, Hint, count, enumerate};
use changes::compare_clusters;
pub use document::RenderView;
use source::ContentSource;

/// Show the manifests that each cluster gets
///
/// Puts together the snapshot, the overrides, and the envelopes as KubeFleet does for each cluster,
/// without writing anything. For a run, these are the overrides that it recorded; for a placement,
/// those that a new run would take. Clusters that get the same are shown as one group. -o yaml and
/// -o json print the manifests themselves, for `kubectl diff -f -` and policy tools. Overrides that
/// cannot be applied are listed with rule, operation, and path: KubeFleet then sends nothing new to
/// their clusters.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    kubectl fleet-stage render example-placement\n  \
    kubectl fleet-stage render example-placement --diff\n  \
    kubectl fleet-stage render example-run --member member-1 -o yaml\n  \
    kubectl fleet-stage render example-placement --diff --between member-1,member-2\n\n\
    Exit codes, the same in every format:\n  \
    0  every cluster gets its manifests\n  \
    3  an override cannot be applied\n  \
    7  unknown, because too little could be read")]
pub struct RenderArgs {
    /// Update run or placement: NAME, csur/NAME, crp/NAME, or with -n sur/NAME, rp/NAME [default:
    /// at a terminal, chosen from a list]
    #[arg(value_name = "RUN|PLACEMENT", required = true)]
    #[arg(add = ArgumentKind::Targets, add = ChosenAtTerminal)]
    target: Option<String>,
    /// Member cluster to render for; repeatable [default: every cluster of the run or placement]
    #[arg(long = "member", value_name = "CLUSTER", add = ArgumentKind::Clusters)]
    clusters: Vec<String>,
    /// Snapshot to render: its index, latest, or live for what the placement selects now [default:
    /// the run's, else latest]
    #[arg(long, value_name = "SNAPSHOT", add = ArgumentKind::Contents)]
    snapshot: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    /// Print groups of clusters, also with -o yaml and -o json
    #[arg(long, help_heading = "Output")]
    summary: bool,
    /// Show what changes against the Works that each cluster has now
    #[arg(long, help_heading = "Output")]
    diff: bool,
    /// With --diff: show how the manifests of two clusters differ
    #[arg(long, value_name = "CLUSTER,CLUSTER", value_delimiter = ',')]
    #[arg(requires = "diff", conflicts_with_all = ["clusters", "summary"])]
    #[arg(help_heading = "Output", add = ArgumentKind::Clusters)]
    between: Vec<String>,
    /// Show Secret values unmasked
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
    #[command(flatten)]
    form: FormArg,
}

impl RenderArgs {
    const fn secrets(&self) -> SecretDisplay {
        SecretDisplay::of_flag(self.show_secrets)
    }
}

/// What was put together, and what of it is uncertain.
struct RenderDocument<'r> {
    material: &'r RenderMaterial,
    source: &'r ContentSource,
    rendering: RenderedClusters<'r>,
    not_checked: Vec<NotChecked>,
}

pub fn run(args: &RenderArgs, session: &mut Session<'_>) -> Result<Exit, Error> {
    let asked = if args.between.is_empty() {
        &args.clusters
    } else {
        &args.between
    };
    if !matches!(args.between.len(), 0 | 2) {
        return Err(Error::usage(
            "--between needs two clusters, as in --between member-1,member-2",
        ));
    }
    let keep = KeptObjects {
        texts: KEEP,
        others: true,
    };
    let mut reading = session.open_keeping(keep, &args.input, "render")?;
    let global = session.global;
    let ui = &mut *session.ui;
    let target = reading.target(args.target.as_deref(), ui)?;
    let works = if args.diff && args.between.is_empty() {
        WorkQuery::Of(asked)
    } else {
        WorkQuery::Unread
    };
    let mut material = manifests::read(&mut reading, &target, works)?;
    let clusters = material.choose(asked)?;
    if clusters.is_empty() {
        material.around.seen(Concept::Binding, &reading)?;
        return Err(
            Error::not_found(format!("{} has no clusters", material.placement))
                .hint("to render for a cluster that it does not select, use --member"),
        );
    }
    stray(&material, &clusters, ui);
    let snapshot = args.snapshot.as_deref();
    let mut source = source::read(snapshot, &material, &mut reading, ui)?;
    let mut placed = material.place(&clusters, &source.content);
    let opens =
        || RenderedClusters::new(&source.content, &material.overrides, &placed).opens_envelopes();
    if matches!(works, WorkQuery::Unread) && source.content.has_envelopes() && opens() {
        // The Works of one cluster tell which KubeFleet it is.
        drop(placed);
        material.read_works(&mut reading, WorkQuery::Of(&clusters[..1]));
        if material.generator() != WorkGenerator::Newest {
            source = source::read(snapshot, &material, &mut reading, ui)?;
        }
        placed = material.place(&clusters, &source.content);
    }
    let mut not_checked = material.not_checked(&mut placed);
    not_checked.extend(source.not_checked.iter().cloned());
    let rendered = RenderDocument {
        material: &material,
        source: &source,
        rendering: RenderedClusters::new(&source.content, &material.overrides, &placed),
        not_checked,
    };
    uncertain(&rendered.not_checked, ui);
    if rendered.rendering.opens_envelopes() {
        ui.status(INSIDE_ENVELOPES);
    }
    let command = reading.again(CommandLine::fleet("render"));
    let mut known = true;
    if !args.between.is_empty() {
        compare_two(&rendered, args, ui)?;
    } else if args.form.output == ItemFormat::Text || args.summary || args.diff {
        known = summary(&rendered, args, global, ui)?;
    } else {
        print(&rendered, args, command, ui)?;
    }
    Ok(match rendered.exit() {
        Exit::Done if !known => Exit::Incomplete,
        exit => exit,
    })
}

/// Says why clusters may get something else.
fn uncertain(gaps: &[NotChecked], ui: &mut Ui) {
    if gaps.is_empty() {
        return;
    }
    let gaps: Vec<_> = gaps
        .iter()
        .map(|it| format!("{} ({})", it.what, it.why))
        .collect();
    ui.warning(&format!(
        "clusters may get something else, because some objects were not read: {}",
        gaps.join(", ")
    ));
}

/// Says which clusters get nothing of the placement, whatever is shown.
fn stray(material: &RenderMaterial, clusters: &[String], ui: &mut Ui) {
    let own: HashSet<_> = material.own_clusters().into_iter().collect();
    let stray: Vec<_> = clusters
        .iter()
        .filter(|name| !own.contains(*name))
        .collect();
    if !stray.is_empty() {
        let of = material.run.as_ref().map_or("the placement", |_| "the run");
        ui.warning(&format!(
            "{of} does not include {}: this is what it would get",
            enumerate(stray)
        ));
    }
}

impl RenderDocument<'_> {
    fn exit(&self) -> Exit {
        match (
            self.rendering.faults.is_empty(),
            self.not_checked.is_empty(),
        ) {
            (false, _) => Exit::Failed,
            (true, false) => Exit::Incomplete,
            (true, true) => Exit::Done,
        }
    }

    fn name(&self, cluster: usize) -> &str {
        let clusters = self.rendering.clusters();
        clusters.get(cluster).map_or("", |it| &it.member.meta.name)
    }
}

/// Shows the groups of clusters, and whether all that changes is known.
fn summary(
    rendered: &RenderDocument<'_>,
    args: &RenderArgs,
    global: &GlobalFlags,
    ui: &mut Ui,
) -> Result<bool, Error> {
    let now = |name: &str| rendered.material.existing(name);
    let changes = args
        .diff
        .then(|| changes::of(&rendered.rendering, &now, args.secrets()));
    let view = RenderView::new(rendered, changes.as_deref());
    let (look, diffs) = (ui.look(global.verbose), args.diff && !args.summary);
    let text = args.form.output.print(&view, || {
        text::summary(rendered, changes.as_deref(), (&look, diffs))
    })?;
    ui.answer(&text);
    let mut known = true;
    if args.diff {
        let items = rendered.source.content.items.iter();
        let masked = hidden(items.map(|it| &it.manifest));
        let inventory = rendered.material.inventory();
        let gets_other = |name: &str| {
            let held = inventory.binding(name).and_then(Binding::snapshot_index);
            held.is_some_and(|held| held != rendered.source.index)
        };
        let mut clusters = 0..rendered.rendering.clusters().len();
        // In the same snapshot, they are the same.
        if !masked.is_empty() && clusters.any(|at| gets_other(rendered.name(at))) {
            warn_of_masked(&masked, ui);
            known = false;
        }
    }
    let mut changes = changes.iter().flatten();
    note_masked(changes.clone().flat_map(|it| &it.differences), ui);
    Ok(known && changes.all(|group| group.counts.is_some()))
}

/// Says that values are masked among differences that were shown.
pub(in crate::commands) fn note_masked<'d>(
    differences: impl IntoIterator<Item = &'d ObjectDifference>,
    ui: &mut Ui,
) {
    let mut differences = differences.into_iter();
    if differences.any(|it| it.change.secrets.is_some()) {
        ui.status("secret values are masked; to show them, use --show-secrets");
    }
}

fn compare_two(rendered: &RenderDocument<'_>, args: &RenderArgs, ui: &mut Ui) -> Result<(), Error> {
    let changes = compare_clusters(&rendered.rendering, args.secrets());
    let view = RenderView::new(rendered, Some(std::slice::from_ref(&changes)));
    let names = (rendered.name(0), rendered.name(1));
    let differences = changes.differences.iter().map(|it| &it.change);
    let print = || unified(differences, names, ui.paint());
    let text = args.form.output.print(&view, print)?;
    ui.answer(&text);
    if changes.differences.is_empty() {
        ui.status(&format!(
            "{} and {} get the same manifests",
            names.0, names.1
        ));
    }
    warn_of_faults(&rendered.rendering.faults, ui);
    note_masked(&changes.differences, ui);
    Ok(())
}

fn warn_of_faults(faults: &[RenderFault], ui: &mut Ui) {
    for fault in faults {
        let clusters = enumerate(&fault.clusters);
        ui.warning(&format!("{clusters}: {}", fault.describe()));
    }
}

/// Prints the manifests of clusters that all get the same.
fn print(
    rendered: &RenderDocument<'_>,
    args: &RenderArgs,
    command: CommandLine,
    ui: &mut Ui,
) -> Result<(), Error> {
    let rendering = &rendered.rendering;
    let number = rendering.clusters().len();
    if (1..number).any(|other| !rendering.is_same(0, other)) {
        return Err(Error::usage(format!(
            "{} get different manifests: choose one with --member",
            count(number, "cluster")
        ))
        .hint(
            Hint::new("to see which clusters get the same:")
                .command(command.args(args.target.clone())),
        ));
    }
    if !rendering.faults.is_empty() {
        warn_of_faults(&rendering.faults, ui);
        ui.warning("KubeFleet sends nothing to the cluster until that is fixed");
    }
    let mut manifests = changes::manifests(rendering, 0);
    if !args.show_secrets {
        let masked: usize = contents::mask(&mut manifests).values().map(Vec::len).sum();
        if masked > 0 {
            ui.warning(&format!(
                "{} masked: do not apply this output; to show secrets, use --show-secrets",
                count(masked, "value")
            ));
        }
    }
    let text = if args.form.output == ItemFormat::Yaml {
        let documents = manifests.iter().map(|it| output::yaml(&it.value));
        documents.collect::<Result<Vec<_>, _>>()?.join("---\n")
    } else {
        let items: Vec<_> = manifests.into_iter().map(|it| it.value).collect();
        output::json(&json!({"apiVersion": "v1", "kind": "List", "items": items}))?
    };
    ui.answer(&text);
    Ok(())
}
