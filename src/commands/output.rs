//! The formats of commands that list: a table for people, documents and names for programs.

use std::borrow::Borrow;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;

use crate::error::Error;
use crate::kubefleet::{ObjectRef, duration};
use crate::render;
use crate::render::table::{Table, TableStyle};
use crate::ui::Ui;
use crate::words;

/// How a list is printed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Output format [default: table]
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
    /// Omit the column headers
    #[arg(long)]
    no_headers: bool,
}

/// A format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Table
    #[default]
    Table,
    /// Table with more columns
    Wide,
    /// JSON document
    Json,
    /// YAML document
    Yaml,
    /// TYPE.GROUP/NAME, one per line
    Name,
}

impl Output {
    pub fn format(&self) -> Format {
        self.output.unwrap_or_default()
    }

    pub const fn asked(&self) -> Option<Format> {
        self.output
    }

    /// Whether everything is wanted that is known.
    pub fn is_wide(&self) -> bool {
        self.format() == Format::Wide
    }

    /// The same where nothing was asked for, else what the outer command was given.
    #[must_use]
    pub fn or(&self, outer: &Self) -> Self {
        Self {
            output: self.output.or(outer.output),
            no_headers: self.no_headers || outer.no_headers,
        }
    }

    pub fn sheet(&self, ui: &Ui) -> TableStyle {
        TableStyle {
            // `wide` shows everything, however wide that gets.
            width: ui.row_width().filter(|_| !self.is_wide()),
            paint: ui.paint(),
            headers: !self.no_headers,
        }
    }

    pub fn draw(&self, table: &Table, ui: &Ui) -> String {
        table.draw(&self.sheet(ui))
    }

    pub fn is_table(&self) -> bool {
        matches!(self.format(), Format::Table | Format::Wide)
    }

    /// Prints a table for people; for programs names of objects, or a document.
    pub fn print<T: Serialize>(
        &self,
        ui: &mut Ui,
        table: impl FnOnce(&Self, &Ui) -> String,
        objects: impl IntoIterator<Item: Borrow<ObjectRef>>,
        data: impl FnOnce() -> T,
    ) -> Result<(), Error> {
        let text = match self.format() {
            Format::Table | Format::Wide => table(self, ui),
            Format::Name => names(objects),
            Format::Json => json(&data())?,
            Format::Yaml => yaml(&data())?,
        };
        ui.answer(&text);
        Ok(())
    }
}

/// The flag for how one thing is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct FormArg {
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: ItemFormat,
}

/// How one thing is printed, of which there is no table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ItemFormat {
    #[default]
    /// Text for a terminal
    Text,
    /// JSON document
    Json,
    /// YAML document
    Yaml,
}

impl ItemFormat {
    /// The text, or the document of the same.
    pub fn print<T: Serialize>(
        self,
        data: &T,
        text: impl FnOnce() -> String,
    ) -> Result<String, Error> {
        match self {
            Self::Text => Ok(text()),
            Self::Json => json(data),
            Self::Yaml => yaml(data),
        }
    }
}

pub fn age(then: Option<Timestamp>, now: Timestamp) -> Option<String> {
    then.map(|then| duration::age(now.duration_since(then)))
}

pub fn document<T: Serialize>(data: &T, as_yaml: bool) -> Result<String, Error> {
    if as_yaml { yaml(data) } else { json(data) }
}

pub fn json<T: Serialize>(data: &T) -> Result<String, Error> {
    Ok(words::json(data)?)
}

pub fn yaml<T: Serialize>(data: &T) -> Result<String, Error> {
    Ok(words::yaml(data)?)
}

/// A document of a stream: JSON in one line, or YAML behind its mark.
pub fn streamed<T: Serialize>(data: &T, as_yaml: bool) -> Result<String, Error> {
    if as_yaml {
        Ok(format!("---\n{}", yaml(data)?))
    } else {
        Ok(words::json_line(data)?)
    }
}

/// Objects as kubectl names them, one a line.
pub fn names(objects: impl IntoIterator<Item: Borrow<ObjectRef>>) -> String {
    objects.into_iter().fold(String::new(), |text, object| {
        let object = object.borrow();
        text + &name(object.kind.name(), object.kind.group(), &object.name) + "\n"
    })
}

/// `deployment.apps/web`, `configmap/settings`.
pub fn name(kind: &str, group: &str, name: &str) -> String {
    let kind = kind.to_lowercase();
    let joint = if group.is_empty() { "" } else { "." };
    render::escape::line(&format!("{kind}{joint}{group}/{name}"))
}
