//! Reading bundles: every format, every error, any order, hostile input.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside test functions

#[path = "bundle/errors.rs"]
mod errors;
#[path = "bundle/formats.rs"]
mod formats;
#[path = "bundle/headers.rs"]
mod headers;
#[path = "bundle/hostile.rs"]
mod hostile;
#[path = "bundle/queries.rs"]
mod queries;

use kubectl_fleet_stage::bundle::{self, Bundle, Input, ReadError};

/// A run, as short as it gets.
const RUN: &str = "\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata:
  name: release
spec:
  placementName: shop
";

/// A member cluster.
const MEMBER: &str = "\
apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata:
  name: member-1
";

fn stdin(bytes: impl AsRef<[u8]>) -> Input {
    Input::Stdin(Box::new(std::io::Cursor::new(bytes.as_ref().to_vec())))
}

fn read(bytes: impl AsRef<[u8]>) -> Result<Bundle, ReadError> {
    bundle::read(vec![stdin(bytes)])
}

fn good(bytes: impl AsRef<[u8]>) -> Bundle {
    match read(bytes) {
        Ok(bundle) => bundle,
        Err(error) => panic!("{error}"),
    }
}

fn names(bundle: &Bundle) -> Vec<String> {
    let objects = bundle.objects().iter();
    objects.map(|o| o.reference().to_string()).collect()
}
