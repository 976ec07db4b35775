//! The events of one document, with aliases replaced by what they stand for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use serde_saphyr::granit_parser::{
    self, Event as Raw, Parser, ScalarStyle, ScanError, Span, StrInput, Tag,
};

use crate::kubefleet::meter::Meter;

/// How deeply mappings and lists may nest; serde_json has the same limit.
const MAX_DEPTH: usize = 127;

/// What an event takes that is kept: a list of them grows by doubling, and is copied once.
const KEPT: usize = 3 * size_of::<YamlEvent<'static>>();

/// Why a document cannot be read: line and column from 1, and what is wrong.
#[derive(Debug, Default)]
pub(crate) struct YamlFault {
    /// 0 where the place is not known.
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

impl fmt::Display for YamlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlFault {}

impl serde::de::Error for YamlFault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            message: message.to_string(),
            ..Self::default()
        }
    }
}

impl From<ScanError> for YamlFault {
    fn from(error: ScanError) -> Self {
        Self {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            message: error.kind().to_string(),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum YamlEvent<'t> {
    /// A scalar, and whether it is one whose type is to be guessed from its text.
    Scalar(Cow<'t, str>, bool),
    List,
    Mapping,
    End,
}

/// Events that are read once more.
struct EventReplay<'t> {
    events: Rc<[YamlEvent<'t>]>,
    next: usize,
    /// Whether they stand in place of an alias, so that an anchor around it covers them.
    alias: bool,
}

/// What an anchor covers, while it is being read.
struct AnchorRecording<'t> {
    anchor: usize,
    depth: usize,
    events: Vec<YamlEvent<'t>>,
}

pub(super) struct YamlEvents<'t> {
    parser: Parser<'t, StrInput<'t>>,
    peeked: Option<YamlEvent<'t>>,
    replays: Vec<EventReplay<'t>>,
    recordings: Vec<AnchorRecording<'t>>,
    anchors: HashMap<usize, Rc<[YamlEvent<'t>]>>,
    /// How many mappings and lists are open.
    depth: usize,
    /// How much aliases may still repeat: one for each event and each byte of text. Without
    /// aliases a text yields no more than itself, so only they need a limit.
    left: usize,
    /// Where the last event of the text started.
    span: Span,
    /// What the events take that are kept.
    meter: Meter,
}

impl<'t> YamlEvents<'t> {
    pub(super) fn new(text: &'t str, meter: &Meter) -> Self {
        let options = granit_parser::options! {
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH + 1,
            block_nesting_limit: MAX_DEPTH + 1,
        };
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            peeked: None,
            replays: Vec::new(),
            recordings: Vec::new(),
            anchors: HashMap::new(),
            depth: 0,
            left: text.len().saturating_mul(4).saturating_add(1 << 20),
            span: Span::default(),
            meter: meter.clone(),
        }
    }

    /// Takes memory for something that is kept.
    pub(super) fn charge(&self, bytes: usize) -> Result<(), YamlFault> {
        self.meter.charge(bytes).map_err(serde::de::Error::custom)
    }

    pub(super) fn place(&self, mut fault: YamlFault) -> YamlFault {
        if fault.line == 0 {
            fault.line = self.span.start.line().max(1);
            fault.column = self.span.start.col() + 1;
        }
        fault
    }

    fn fault<T>(message: &str) -> Result<T, YamlFault> {
        Err(YamlFault {
            message: message.to_owned(),
            ..YamlFault::default()
        })
    }

    fn raw(&mut self) -> Result<Raw<'t>, YamlFault> {
        match self.parser.next_event() {
            Some(event) => {
                let (event, span) = event?;
                self.span = span;
                Ok(event)
            }
            None => Ok(Raw::StreamEnd),
        }
    }

    /// Steps into the document; `false` when there is none.
    pub(super) fn start(&mut self) -> Result<bool, YamlFault> {
        loop {
            match self.raw()? {
                Raw::DocumentStart(..) => return Ok(true),
                Raw::StreamEnd => return Ok(false),
                _ => {}
            }
        }
    }

    /// Makes sure that nothing follows.
    pub(super) fn finish(&mut self) -> Result<(), YamlFault> {
        loop {
            match self.raw()? {
                Raw::StreamEnd => return Ok(()),
                Raw::DocumentEnd => {}
                _ => return Self::fault("the document continues after its end"),
            }
        }
    }

    pub(super) fn peek(&mut self) -> Result<&YamlEvent<'t>, YamlFault> {
        let event = match self.peeked.take() {
            Some(event) => event,
            None => self.pull()?,
        };
        Ok(self.peeked.insert(event))
    }

    pub(super) fn next(&mut self) -> Result<YamlEvent<'t>, YamlFault> {
        match self.peeked.take() {
            Some(event) => Ok(event),
            None => self.pull(),
        }
    }

    fn pull(&mut self) -> Result<YamlEvent<'t>, YamlFault> {
        loop {
            if let Some(replay) = self.replays.last_mut() {
                let Some(event) = replay.events.get(replay.next).cloned() else {
                    self.replays.pop();
                    continue;
                };
                replay.next += 1;
                let record = replay.alias;
                self.spend(&event)?;
                if record {
                    self.record(&event)?;
                }
                self.count(&event)?;
                return Ok(event);
            }
            let (event, anchor) = match self.raw()? {
                Raw::Scalar(text, style, anchor, tag) => {
                    let guess = style == ScalarStyle::Plain && !is_text(tag.as_deref());
                    (YamlEvent::Scalar(text, guess), anchor)
                }
                Raw::SequenceStart(_, anchor, _) => (YamlEvent::List, anchor),
                Raw::MappingStart(_, anchor, _) => (YamlEvent::Mapping, anchor),
                Raw::SequenceEnd | Raw::MappingEnd => (YamlEvent::End, 0),
                Raw::Alias(anchor) => {
                    let Some(events) = self.anchors.get(&anchor) else {
                        return Self::fault("an alias refers to itself");
                    };
                    self.replays.push(EventReplay {
                        events: Rc::clone(events),
                        next: 0,
                        alias: true,
                    });
                    continue;
                }
                Raw::StreamEnd | Raw::DocumentEnd => {
                    return Self::fault("the document is truncated");
                }
                _ => continue,
            };
            if anchor != 0 {
                self.recordings.push(AnchorRecording {
                    anchor,
                    depth: 0,
                    events: Vec::new(),
                });
            }
            self.record(&event)?;
            self.count(&event)?;
            return Ok(event);
        }
    }

    fn count(&mut self, event: &YamlEvent<'t>) -> Result<(), YamlFault> {
        match event {
            YamlEvent::List | YamlEvent::Mapping => self.depth += 1,
            YamlEvent::End => self.depth = self.depth.saturating_sub(1),
            YamlEvent::Scalar(..) => {}
        }
        if self.depth > MAX_DEPTH {
            return Self::fault("mappings and lists are nested too deeply");
        }
        Ok(())
    }

    fn spend(&mut self, event: &YamlEvent<'t>) -> Result<(), YamlFault> {
        let size = match event {
            YamlEvent::Scalar(text, _) => text.len() + 1,
            _ => 1,
        };
        match self.left.checked_sub(size) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Self::fault("aliases repeat too much of the document"),
        }
    }

    fn record(&mut self, event: &YamlEvent<'t>) -> Result<(), YamlFault> {
        if self.recordings.is_empty() {
            return Ok(());
        }
        for index in 0..self.recordings.len() {
            self.spend(event)?;
            self.charge(KEPT)?;
            let recording = &mut self.recordings[index];
            recording.events.push(event.clone());
            match event {
                YamlEvent::List | YamlEvent::Mapping => recording.depth += 1,
                YamlEvent::End => recording.depth = recording.depth.saturating_sub(1),
                YamlEvent::Scalar(..) => {}
            }
        }
        // The inner ones end first.
        while let Some(done) = self.recordings.pop_if(|recording| recording.depth == 0) {
            self.anchors.insert(done.anchor, done.events.into());
        }
        Ok(())
    }

    pub(super) fn skip(&mut self) -> Result<(), YamlFault> {
        self.walk(|_| Ok(()))
    }

    pub(super) fn take(&mut self) -> Result<Vec<YamlEvent<'t>>, YamlFault> {
        let mut events = Vec::new();
        let meter = self.meter.clone();
        self.walk(|event| {
            events.push(event);
            meter.charge(KEPT).map_err(serde::de::Error::custom)
        })?;
        Ok(events)
    }

    fn walk(
        &mut self,
        mut see: impl FnMut(YamlEvent<'t>) -> Result<(), YamlFault>,
    ) -> Result<(), YamlFault> {
        let mut open = 0_usize;
        loop {
            let event = self.next()?;
            match event {
                YamlEvent::List | YamlEvent::Mapping => open += 1,
                YamlEvent::End => open = open.saturating_sub(1),
                YamlEvent::Scalar(..) => {}
            }
            see(event)?;
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// Lets the events of a node that was taken out come next.
    pub(super) fn put_back(&mut self, events: Vec<YamlEvent<'t>>) {
        self.replays.push(EventReplay {
            events: events.into(),
            next: 0,
            alias: false,
        });
    }
}

/// Whether a tag says that a plain scalar is text.
fn is_text(tag: Option<&Tag>) -> bool {
    tag.is_some_and(|tag| tag.core_suffix().is_none_or(|suffix| suffix == "str"))
}
