//! The `kubectl-fleet-stage` binary: parse, run, exit code. Nothing else.

use std::process::ExitCode;

use jiff::Timestamp;
use kubectl_fleet_stage::ui::Ui;

fn main() -> ExitCode {
    let mut ui = Ui::of_process();
    let exit = kubectl_fleet_stage::run(std::env::args_os(), &mut ui, Timestamp::now);
    ExitCode::from(exit.code())
}
