//! Of which objects a diagnosis needs more than what the inventory keeps.

use std::collections::BTreeSet;

use crate::diagnose::subjects::context::DiagnosisContext;
use crate::diagnose::subjects::rendered::BoundVersion;
use crate::diagnose::{subjects::overrides, subjects::unsent};
use crate::inventory::Inventory;
use crate::inventory::source::HubQuery;
use crate::kubefleet::{Condition, ObjectRef, reasons};
use crate::rollout::versions::versions;

/// Of which objects the whole text is needed: of the content of clusters on which an override fails,
/// or a workload lacks what it needs.
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
    let may_lack = || fails(&[reasons::AVAILABLE]) && unsent::is_possible(inventory);
    if !may_fail && !may_lack() {
        return Vec::new();
    }
    let cx = DiagnosisContext::new(inventory);
    let all = versions(inventory);
    let mut lost = unsent::LostObjects::new(&all);
    let wanted: BTreeSet<ObjectRef> = cx
        .troubles
        .iter()
        .filter_map(|failing| Some((failing, BoundVersion::of(inventory, &all, failing)?)))
        .filter(|(failing, bound)| {
            overrides::refusing(failing).is_some() || lost.may_need(failing, bound)
        })
        .flat_map(|(_, bound)| bound.texts().collect::<Vec<_>>())
        .collect();
    wanted.iter().map(HubQuery::object).collect()
}
