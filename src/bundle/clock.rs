//! The newest point in time that objects speak of: the clock of a bundle without a header.

use jiff::Timestamp;

use crate::kubefleet::Condition;
use crate::kubefleet::object::{Object, ObjectBody};
use crate::kubefleet::run::{StageStatus, TaskStatus};
use crate::member::{self, MemberObservation};

/// The largest timestamp among them.
pub(super) fn newest<'l>(
    objects: &[Object],
    looks: impl Iterator<Item = &'l MemberObservation>,
) -> Option<Timestamp> {
    let mut clock = BundleClock(None);
    for object in objects {
        clock.object(&object.body);
    }
    for object in looks.flat_map(|look| &look.objects) {
        clock.see(object.meta().created);
        if let member::MemberBody::Event(event) = &object.body {
            clock.see(event.seen());
        }
    }
    clock.0
}

struct BundleClock(Option<Timestamp>);

impl BundleClock {
    fn see(&mut self, time: Option<Timestamp>) {
        // `None` is less than any time.
        self.0 = self.0.max(time);
    }

    fn conditions(&mut self, conditions: &[Condition]) {
        for condition in conditions {
            self.see(condition.since);
        }
    }

    fn object(&mut self, body: &ObjectBody) {
        let meta = body.meta();
        self.see(meta.created);
        self.see(meta.deleted);
        match body {
            ObjectBody::Run(run) => {
                self.conditions(&run.status.conditions);
                run.all_stages().for_each(|stage| self.stage(stage));
            }
            ObjectBody::Approval(approval) => self.conditions(&approval.status.conditions),
            ObjectBody::Placement(placement) => self.conditions(&placement.status.conditions),
            ObjectBody::Binding(binding) => {
                let status = &binding.status;
                self.conditions(&status.conditions);
                for failed in &status.failed {
                    self.see(failed.condition.since);
                }
                for compared in status.drifted.iter().chain(&status.diffed) {
                    self.see(compared.observed);
                }
            }
            ObjectBody::PolicySnapshot(snapshot) => self.conditions(&snapshot.status.conditions),
            ObjectBody::Work(work) => {
                self.conditions(&work.status.conditions);
                for manifest in &work.status.manifests {
                    self.conditions(&manifest.conditions);
                }
            }
            ObjectBody::Member(member) => {
                self.conditions(&member.status.conditions);
                for agent in &member.status.agents {
                    self.conditions(&agent.conditions);
                    self.see(agent.heartbeat);
                }
            }
            ObjectBody::Strategy(_) | ObjectBody::ResourceSnapshot(_) | ObjectBody::Override(_) => {
            }
        }
    }

    fn stage(&mut self, stage: &StageStatus) {
        self.see(stage.started);
        self.see(stage.ended);
        self.conditions(&stage.conditions);
        let tasks = stage.before.iter().chain(&stage.after);
        tasks.for_each(|task: &TaskStatus| self.conditions(&task.conditions));
        for cluster in &stage.clusters {
            self.conditions(&cluster.conditions);
        }
    }
}
