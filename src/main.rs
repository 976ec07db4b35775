//! The `kubectl-fleet-stage` binary.

fn main() {}
