//! One call of the program: its flags, its user, and the clock.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use crate::bundle;
use crate::commands::gather::global::GlobalFlags;
use crate::commands::gather::reading::{self, InputArgs, SourceReading};
use crate::error::Error;
use crate::hub::TimeLimit;
use crate::kubefleet::object::KeptObjects;
use crate::settings::InForce;
use crate::ui::Ui;

pub struct Session<'s> {
    pub global: &'s GlobalFlags,
    pub settings: InForce,
    pub ui: &'s mut Ui,
    pub clock: fn() -> Timestamp,
}

impl Session<'_> {
    /// Reads the files, or connects to the hub. `command` is the one that hints name.
    pub fn open(
        &mut self,
        input: &InputArgs,
        command: &'static str,
    ) -> Result<SourceReading, Error> {
        self.open_keeping(KeptObjects::default(), input, command)
    }

    /// Connects to the hub, for a command that has to end in this time. Without any time, or for no
    /// time at all, its requests have their own limit alone.
    pub fn open_within(
        &mut self,
        limit: Option<Duration>,
        command: &'static str,
    ) -> Result<SourceReading, Error> {
        let limit = limit.filter(|limit| !limit.is_zero());
        let hub = reading::connect(self.global, false, limit.map(TimeLimit::after), self.ui)?;
        let (global, clock) = (self.global, self.clock);
        Ok(SourceReading::of_hub(hub, None, global, command, clock))
    }

    /// As `open`, keeping more of what files hold: [`SourceReading::ask_with_texts`] gives it.
    pub fn open_keeping(
        &mut self,
        keep: impl Into<KeptObjects>,
        input: &InputArgs,
        command: &'static str,
    ) -> Result<SourceReading, Error> {
        let (global, clock) = (self.global, self.clock);
        if input.files.is_empty() {
            let hub = reading::connect(global, true, None, self.ui)?;
            let reading = SourceReading::of_hub(hub, input.now, global, command, clock);
            return Ok(reading);
        }
        let inputs = input.files.iter().map(|path| input_at(path, self.ui));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let bundle = bundle::read_within(inputs, keep, input.limits())?;
        for warning in &bundle.warnings {
            self.ui.warning(warning);
        }
        let reading = SourceReading::of_files(bundle, input, global, command, clock);
        Ok(reading)
    }
}

/// What a path on the command line stands for: `-` is standard input.
pub fn input_at(path: &Path, ui: &mut Ui) -> Result<bundle::Input, Error> {
    if path.as_os_str() != "-" {
        return Ok(bundle::Input::Path(path.to_path_buf()));
    }
    let input = ui.take_input().map(bundle::Input::Stdin);
    input.ok_or_else(|| Error::usage("standard input (-) can be read only once"))
}
