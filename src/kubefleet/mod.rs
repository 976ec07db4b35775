//! The object model as KubeFleet serves it: one struct per concept for both scopes and all served
//! versions, read leniently, and the names, reasons and texts that the controllers use.

pub mod apply;
pub mod approval;
pub mod binding;
pub mod duration;
pub mod kind;
pub mod member;
pub mod messages;
pub mod meta;
pub mod meter;
pub mod names;
pub mod object;
pub mod override_names;
pub mod overrides;
pub mod path;
pub mod placement;
pub mod reasons;
pub mod run;
pub mod scope;
pub mod selector;
pub mod snapshot;
pub mod strategy;
pub mod tolerant;
pub mod work;

pub use kind::{Concept, Kind};
pub use meta::{Condition, ConditionStatus, Conditions, ObjectMeta};
pub use scope::{ObjectRef, Scope, describe_object, qualified_name};
