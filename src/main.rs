//! The `kubectl-fleet-stage` binary: completion, parse, run, exit code. Nothing else.

use std::process::ExitCode;

use jiff::Timestamp;
use kubectl_fleet_stage::cli::complete::VARIABLE;
use kubectl_fleet_stage::kubefleet::duration;
use kubectl_fleet_stage::ui::Ui;

fn main() -> ExitCode {
    let mut ui = Ui::of_process();
    let args: Vec<_> = std::env::args_os().collect();
    let shell = std::env::var(VARIABLE).ok();
    let exit = kubectl_fleet_stage::complete(&args, shell.as_deref(), &mut ui)
        .unwrap_or_else(|| kubectl_fleet_stage::run(args, &mut ui, clock));
    ExitCode::from(exit.code())
}

fn clock() -> Timestamp {
    duration::whole_seconds(Timestamp::now())
}
