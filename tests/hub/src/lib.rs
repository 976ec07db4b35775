//! A hub for tests: a real etcd and kube-apiserver on loopback, the CRDs, a fault proxy, and a
//! stand-in for KubeFleet's controllers.

pub mod fleet;
pub mod standin;
