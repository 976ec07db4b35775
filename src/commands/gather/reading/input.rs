//! The flags for what is read instead of the hub.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use crate::bundle;

/// What a command reads instead of the hub.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Read objects from a file, a directory, or standard input (-) instead of the hub; repeatable
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Limit for the size of all files together, unpacked: bytes, or a quantity such as 1Gi
    /// [default: 256Mi]
    #[arg(long, value_name = "SIZE", value_parser = bundle::parse_size, hide_short_help = true)]
    pub max_input: Option<u64>,
    /// Evaluate as of this time, in RFC 3339 format [default: the current time; with -f the time of
    /// collection, else the newest time in the files]
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub now: Option<Timestamp>,
}

impl InputArgs {
    /// The same where files were given, else what the outer command was given.
    #[must_use]
    pub fn or(&self, outer: &Self) -> Self {
        if self.files.is_empty() {
            outer.clone()
        } else {
            self.clone()
        }
    }

    pub fn limits(&self) -> bundle::ReadLimits {
        self.max_input
            .map_or_else(bundle::ReadLimits::default, bundle::ReadLimits::new)
    }
}
