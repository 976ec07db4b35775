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
    Workload(Workload) = Deployment | StatefulSet | DaemonSet | ReplicaSet;
    Pod(Pod) = Pod;
    Service(Service) = Service;
    Definition(Definition) = CustomResourceDefinition;
    Budget(Budget) = PodDisruptionBudget;
    Claim(Claim) = PersistentVolumeClaim;
    Quota(Quota) = ResourceQuota;
    Event(Event) = Event;
    Applied(Applied) = AppliedWork;
}
