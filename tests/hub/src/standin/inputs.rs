//! What a run is based on: the placement, its policy and the clusters that it selects. The run
//! reads it when it is initialized and again at every look.

use serde_json::{Value, json};

use super::conditions::{self, Conditions};
use super::halt::{Halt, refuse, unexpected, user};
use super::names;
use super::object::Object;
use super::status::Run;
use super::world::World;

/// The bindings of a placement, by name.
pub(crate) struct Bindings<'w> {
    /// The clusters that the latest policy selects.
    pub(crate) selected: Vec<&'w Value>,
    /// The clusters that it no longer selects and that still have content.
    pub(crate) unselected: Vec<&'w Value>,
}

/// The placement of a run, if runs may roll it out.
pub(crate) fn placement<'w>(run: &Run, world: &'w World) -> Result<&'w Value, Halt> {
    let placement = world
        .get(
            run.scope.kinds().placement,
            run.scope.namespace(),
            &run.spec.placement,
        )
        .ok_or_else(|| refuse(&user("parent placement not found")))?;
    let strategy = match placement.text("/spec/strategy/type") {
        "" => "RollingUpdate",
        given => given,
    };
    if strategy != "External" {
        return Err(refuse(&user(&format!(
            "parent placement does not have an external rollout strategy, current strategy: \
             {strategy}"
        ))));
    }
    Ok(placement)
}

/// The apply strategy of a placement with everything that was left out filled in.
pub(crate) fn apply_strategy(placement: &Value) -> Value {
    let mut strategy = placement
        .pointer("/spec/strategy/applyStrategy")
        .filter(|strategy| strategy.is_object())
        .cloned()
        .unwrap_or_else(|| json!({}));
    for (field, default) in [
        ("type", "ClientSideApply"),
        ("comparisonOption", "PartialComparison"),
        ("whenToApply", "Always"),
        ("whenToTakeOver", "Always"),
    ] {
        if strategy
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or("")
            .is_empty()
        {
            strategy[field] = json!(default);
        }
    }
    if strategy["type"] == "ServerSideApply" && strategy.get("serverSideApplyConfig").is_none() {
        strategy["serverSideApplyConfig"] = json!({"force": false});
    }
    // A false flag is not written; leaving it in would make equal strategies differ.
    if strategy.get("allowCoOwnership") == Some(&json!(false))
        && let Some(fields) = strategy.as_object_mut()
    {
        fields.remove("allowCoOwnership");
    }
    strategy
}

/// An apply strategy as the controllers print it, address included.
pub(crate) fn print_apply_strategy(strategy: &Value) -> String {
    let config = if strategy.get("serverSideApplyConfig").is_some() {
        "0x1f26506a711c"
    } else {
        "<nil>"
    };
    format!(
        "&{{{} {} {} {} {config} {}}}",
        strategy.text("/comparisonOption"),
        strategy.text("/whenToApply"),
        strategy.text("/type"),
        strategy["allowCoOwnership"] == true,
        strategy.text("/whenToTakeOver"),
    )
}

/// The latest policy snapshot of the run's placement.
pub(crate) fn policy<'w>(run: &Run, world: &'w World) -> Result<&'w Value, Halt> {
    let key = run.scope.key(&run.spec.placement);
    let latest: Vec<&Value> = world
        .of_placement(
            run.scope.kinds().policy_snapshot,
            &run.scope,
            &run.spec.placement,
        )
        .filter(|snapshot| snapshot.label(names::IS_LATEST) == "true")
        .collect();
    match latest.as_slice() {
        [] => Err(refuse(&format!(
            "no latest policy snapshot found for placement {key}"
        ))),
        [one] if one.label(names::POLICY_INDEX).is_empty() => Err(refuse(&unexpected(&format!(
            "policy snapshot `{}` does not have a policy index label",
            run.scope.key(one.name())
        )))),
        [one] => Ok(one),
        several => Err(refuse(&unexpected(&format!(
            "multiple active policy snapshots found for placement {key}: got {}, want 1",
            several.len()
        )))),
    }
}

/// How many clusters a policy asks for; nothing where it asks for all that fit.
pub(crate) fn wanted_clusters(run: &Run, policy: &Value) -> Result<Option<i64>, Halt> {
    match policy.text("/spec/policy/placementType") {
        "PickN" => policy
            .annotation(names::NUMBER_OF_CLUSTERS)
            .parse()
            .map(Some)
            .map_err(|_| {
                Halt::Abort(format!(
                    "cannot continue the updateRun: failed to validate the updateRun, {}",
                    unexpected(&format!(
                        "the policy snapshot `{}` doesn't have valid cluster count annotation",
                        run.scope.key(policy.name())
                    ))
                ))
            }),
        "PickFixed" => Ok(i64::try_from(policy.items("/spec/policy/clusterNames").len()).ok()),
        _ => Ok(None),
    }
}

/// Refuses a policy that the scheduler has not fulfilled.
pub(crate) fn scheduled(policy: &Value) -> Result<(), Halt> {
    if conditions::of_status(policy).is_true("Scheduled", policy.generation()) {
        Ok(())
    } else {
        Err(refuse(&format!(
            "policy snapshot `{}` not fully scheduled yet",
            policy.name()
        )))
    }
}

/// The bindings of the run's placement, sorted into those to update and those to delete.
pub(crate) fn bindings<'w>(
    run: &Run,
    world: &'w World,
    policy: &Value,
    wanted: Option<i64>,
) -> Result<Bindings<'w>, Halt> {
    let mut found = Bindings {
        selected: Vec::new(),
        unselected: Vec::new(),
    };
    for binding in world.of_placement(run.scope.kinds().binding, &run.scope, &run.spec.placement) {
        let of_policy = binding.text("/spec/schedulingPolicySnapshotName");
        let state = binding.text("/spec/state");
        if state == "Unscheduled" {
            found.unselected.push(binding);
        } else if of_policy == policy.name() {
            found.selected.push(binding);
        } else {
            return Err(Halt::Retry(format!(
                "binding `{}` with old policy snapshot `{}` has state {state}, we might observe \
                 a transient state, need retry",
                run.scope.key(binding.name()),
                run.scope.key(of_policy),
            )));
        }
    }
    let selected = i64::try_from(found.selected.len()).unwrap_or(i64::MAX);
    if found.selected.is_empty() && found.unselected.is_empty() {
        return Err(refuse(&format!(
            "no scheduled or to-be-deleted bindings found for the latest policy snapshot {}",
            run.scope.key(policy.name())
        )));
    }
    match wanted {
        Some(wanted) if wanted != selected => Err(refuse(&unexpected(&format!(
            "the number of selected bindings {selected} is not equal to the observed cluster \
             count {wanted}"
        )))),
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_apply_strategy_is_completed_and_printed() {
        let placement = json!({"spec": {"strategy": {"type": "External"}}});
        let strategy = apply_strategy(&placement);
        assert_eq!(
            strategy,
            json!({
                "comparisonOption": "PartialComparison", "type": "ClientSideApply",
                "whenToApply": "Always", "whenToTakeOver": "Always",
            })
        );
        assert_eq!(
            print_apply_strategy(&strategy),
            "&{PartialComparison Always ClientSideApply false <nil> Always}"
        );
    }
}
