//! One object of a member cluster.

use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer};

use super::kind::Kind;
use super::model::{Applied, Budget, Claim, Definition, Event, Meta, Quota, Service, Workload};
use super::pods::Pod;
use crate::kubefleet::tolerant::Seed;

/// An object of a member cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Its kind.
    pub kind: Kind,
    /// Its content.
    pub body: Body,
}

macro_rules! bodies {
    ($( $(#[$doc:meta])* $variant:ident($ty:ty) = $($kind:ident)|+; )*) => {
        /// The content of an object.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Body { $( $(#[$doc])* $variant(Arc<$ty>), )* }

        impl Object {
            /// Reads an object whose kind is known: the API server leaves it out in lists.
            pub fn read<'de, D: Deserializer<'de>>(
                kind: Kind,
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let body = match kind {
                    $( $(Kind::$kind)|+ => Body::$variant(Arc::new(
                        Seed::<$ty>::default().deserialize(deserializer)?,
                    )), )*
                };
                Ok(Self { kind, body })
            }

            /// The object's metadata.
            pub fn meta(&self) -> &Meta {
                match &self.body { $( Body::$variant(object) => &object.meta, )* }
            }
        }
    };
}

bodies! {
    /// A Deployment, StatefulSet, DaemonSet or ReplicaSet.
    Workload(Workload) = Deployment | StatefulSet | DaemonSet | ReplicaSet;
    /// A pod.
    Pod(Pod) = Pod;
    /// A Service.
    Service(Service) = Service;
    /// A CustomResourceDefinition.
    Definition(Definition) = CustomResourceDefinition;
    /// A PodDisruptionBudget.
    Budget(Budget) = PodDisruptionBudget;
    /// A PersistentVolumeClaim.
    Claim(Claim) = PersistentVolumeClaim;
    /// A ResourceQuota.
    Quota(Quota) = ResourceQuota;
    /// An Event.
    Event(Event) = Event;
    /// An AppliedWork.
    Applied(Applied) = AppliedWork;
}
