//! The `kubectl-fleet-stage` binary: parse, run, exit code. Nothing else.

use std::process::ExitCode;

use jiff::Timestamp;
use kubectl_fleet_stage::kubefleet::duration;
use kubectl_fleet_stage::ui::Ui;

fn main() -> ExitCode {
    let mut ui = Ui::of_process();
    let exit = kubectl_fleet_stage::run(std::env::args_os(), &mut ui, clock);
    ExitCode::from(exit.code())
}

fn clock() -> Timestamp {
    duration::whole_seconds(Timestamp::now())
}
