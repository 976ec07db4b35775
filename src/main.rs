//! The `kubectl-fleet-stage` binary: parse, run, exit code. Nothing else.

use std::process::ExitCode;

use kubectl_fleet_stage::ui::Ui;

fn main() -> ExitCode {
    let mut ui = Ui::of_process();
    ExitCode::from(kubectl_fleet_stage::run(std::env::args_os(), &mut ui).code())
}
