//! One object of a member cluster.

use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer};

use super::kind::MemberKind;
use super::model::{
    AppliedWork, DisruptionBudget, Event, Job, MemberMeta, Quota, ResourceDefinition, Service,
    VolumeClaim, Workload,
};
use super::pods::Pod;
use crate::kubefleet::tolerant::LenientSeed;

#[derive(Debug, Clone, PartialEq)]
pub struct MemberObject {
    pub kind: MemberKind,
    /// Its content.
    pub body: MemberBody,
}

macro_rules! bodies {
    ($( $(#[$doc:meta])* $variant:ident($ty:ty) = $($kind:ident)|+; )*) => {
        /// The content of an object.
        #[derive(Debug, Clone, PartialEq)]
        pub enum MemberBody { $( $(#[$doc])* $variant(Arc<$ty>), )* }

        impl MemberObject {
            /// Reads an object whose kind is known: the API server leaves it out in lists.
            pub fn read<'de, D: Deserializer<'de>>(
                kind: MemberKind,
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let body = match kind {
                    $( $(MemberKind::$kind)|+ => MemberBody::$variant(Arc::new(
                        LenientSeed::<$ty>::default().deserialize(deserializer)?,
                    )), )*
                };
                Ok(Self { kind, body })
            }

            /// The object's metadata.
            pub fn meta(&self) -> &MemberMeta {
                match &self.body { $( MemberBody::$variant(object) => &object.meta, )* }
            }
        }
    };
}

bodies! {
    Workload(Workload) = Deployment | StatefulSet | DaemonSet | ReplicaSet;
    Pod(Pod) = Pod;
    Service(Service) = Service;
    Definition(ResourceDefinition) = CustomResourceDefinition;
    Budget(DisruptionBudget) = PodDisruptionBudget;
    Job(Job) = Job;
    Claim(VolumeClaim) = PersistentVolumeClaim;
    Quota(Quota) = ResourceQuota;
    Event(Event) = Event;
    Applied(AppliedWork) = AppliedWork;
}
