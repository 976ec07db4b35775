//! Of which objects a diagnosis needs more than what the inventory keeps.

use std::collections::BTreeSet;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::rendered::{BoundVersion, NamedContent};
use crate::diagnose::subjects::{changes_ahead, overrides, same_again, unsent};
use crate::inventory::Inventory;
use crate::inventory::source::HubQuery;
use crate::kubefleet::{Condition, ObjectRef, reasons};
use crate::rollout::versions::versions;

/// Of which objects the whole text is needed: of the content of clusters on which an override fails,
/// or a workload lacks what it needs, of those that a run is to reach with overrides or envelopes, of what a run that
/// rests changes, and of the snapshots between which a rollback would go.
pub fn texts(inventory: &Inventory) -> Vec<HubQuery> {
    // Most often there is none, and no cluster has to be understood to see that.
    let fails = |kinds: &[&str]| {
        let mut bindings = inventory.bindings.iter();
        bindings.any(|binding| {
            let mut kinds = kinds.iter().filter_map(|kind| binding.current(kind));
            kinds.any(Condition::is_false)
        })
    };
    let may_fail = fails(&[reasons::OVERRIDDEN, reasons::WORK_SYNCHRONIZED]);
    let may_stay = fails(&[reasons::APPLIED, reasons::AVAILABLE]);
    let may_lack = fails(&[reasons::AVAILABLE]) && unsent::is_possible(inventory);
    let ahead = inventory.may_fail_ahead();
    let rests = inventory.waits();
    if !may_fail && !ahead && !may_stay && !rests {
        return Vec::new();
    }
    let cx = DiagnosisContext::new(inventory);
    let all = versions(inventory);
    let bound = |content| BoundVersion::of(inventory, &all, content);
    let mut lost = unsent::LostObjects::new(&all);
    let in_trouble = cx
        .troubles
        .iter()
        .filter_map(|failing| Some((failing, bound(NamedContent::of(failing)?)?)))
        .filter(|(failing, bound)| {
            overrides::refusing(failing).is_some() || may_lack && lost.may_need(failing, bound)
        })
        .map(|(_, bound)| bound);
    let ahead = overrides::ahead(&cx);
    let ahead = ahead.into_iter().filter_map(bound);
    let wanted: BTreeSet<ObjectRef> = in_trouble
        .chain(ahead)
        .flat_map(|bound| bound.texts().collect::<Vec<_>>())
        .chain(same_again::texts(&cx))
        .chain(changes_ahead::texts(&cx))
        .collect();
    wanted.iter().map(HubQuery::object).collect()
}
