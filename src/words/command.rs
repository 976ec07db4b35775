//! A command as a list of words.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::{FleetVerb, quote};

/// A command that is suggested to people and programs: kubectl's own, or one of this plugin.
///
/// What comes from a cluster goes in as an operand or as a flag's value, and stays one word
/// whatever is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandLine {
    program: CommandProgram,
    words: Vec<CommandWord>,
    namespace: String,
    /// The context of the hub, where that is not the one that was asked alone; empty otherwise.
    hub: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum CommandProgram {
    Fleet,
    Hub,
    Member(String),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum CommandWord {
    /// It stands as it is: a verb, or a flag, with its value behind it as another word.
    Fixed(String),
    /// It is no flag, whatever it begins with.
    Operand(String),
}

impl CommandLine {
    /// One of ours: `kubectl fleet-stage VERB`. A verb may be several words.
    pub fn fleet(verb: &'static str) -> Self {
        Self::new(CommandProgram::Fleet, verb)
    }

    pub fn kubectl(verb: &'static str) -> Self {
        Self::new(CommandProgram::Hub, verb)
    }

    /// kubectl in a member cluster: `kubectl --context CONTEXT_OF_CLUSTER VERB`. Who knows the
    /// context puts it in.
    pub fn member(cluster: impl Into<String>, verb: &'static str) -> Self {
        Self::new(CommandProgram::Member(clean(cluster.into())), verb)
    }

    fn new(program: CommandProgram, verb: &str) -> Self {
        let verbs = verb.split_whitespace();
        Self {
            program,
            words: verbs
                .map(|verb| CommandWord::Fixed(verb.to_owned()))
                .collect(),
            namespace: String::new(),
            hub: String::new(),
        }
    }

    /// Adds a name, or whatever else is no flag.
    #[must_use]
    pub fn arg(mut self, operand: impl Into<String>) -> Self {
        self.words.push(CommandWord::Operand(clean(operand.into())));
        self
    }

    #[must_use]
    pub fn args<S: Into<String>>(self, operands: impl IntoIterator<Item = S>) -> Self {
        operands.into_iter().fold(self, Self::arg)
    }

    #[must_use]
    pub fn switch(mut self, flag: &str) -> Self {
        self.words.push(CommandWord::Fixed(flag.to_owned()));
        self
    }

    /// Has `kubectl get` show who manages which field.
    #[must_use]
    pub fn showing_field_managers(self) -> Self {
        self.flag("-o", "yaml").switch("--show-managed-fields")
    }

    /// Adds a flag and its value, as two words where that cannot be misread.
    #[must_use]
    pub fn flag(mut self, flag: &str, value: impl Into<String>) -> Self {
        let value = clean(value.into());
        if value.starts_with('-') {
            return self.joined(flag, value);
        }
        self.words.push(CommandWord::Fixed(flag.to_owned()));
        self.words.push(CommandWord::Fixed(value));
        self
    }

    #[must_use]
    pub fn flag_of(self, flag: &str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.flag(flag, value),
            None => self,
        }
    }

    /// Adds a flag without a value, where it is meant.
    #[must_use]
    pub fn switch_if(self, is_meant: bool, flag: &str) -> Self {
        if is_meant { self.switch(flag) } else { self }
    }

    /// Adds a flag and its value as one word: `--for=succeeded`.
    #[must_use]
    pub fn joined(mut self, flag: &str, value: impl Into<String>) -> Self {
        let value = clean(value.into());
        self.words
            .push(CommandWord::Fixed(format!("{flag}={value}")));
        self
    }

    /// Sets the namespace; without a name there is none.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = clean(namespace.into());
        self
    }

    /// Leads it to the hub of this context, where it asks a hub.
    #[must_use]
    pub fn on_hub(mut self, context: &str) -> Self {
        if self.asks_a_hub() {
            self.hub = clean(context.to_owned());
        }
        self
    }

    /// ` -n NAMESPACE`, with its leading space; empty without one.
    pub(super) fn namespace_flag(&self) -> String {
        match self.namespace.as_str() {
            "" => String::new(),
            namespace => format!(" -n {}", quote(namespace)),
        }
    }

    pub fn is_ours(&self) -> bool {
        self.program == CommandProgram::Fleet
    }

    /// Whether it is about a hub: some of ours only tell of the program.
    pub fn asks_a_hub(&self) -> bool {
        match self.program {
            CommandProgram::Fleet => FleetVerb::named(self.verb()).is_some_and(|it| it.asks_a_hub),
            CommandProgram::Hub => true,
            CommandProgram::Member(_) => false,
        }
    }

    pub fn verb(&self) -> &str {
        match self.words.first() {
            Some(CommandWord::Fixed(word)) => word,
            _ => "",
        }
    }

    /// The words after the program's, as they are: flags, values and operands.
    pub(super) fn own_words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| match word {
            CommandWord::Fixed(word) | CommandWord::Operand(word) => word.as_str(),
        })
    }

    pub fn operand(&self, number: usize) -> Option<&str> {
        let operands = self.words.iter().filter_map(|word| match word {
            CommandWord::Operand(word) => Some(word.as_str()),
            CommandWord::Fixed(_) => None,
        });
        operands.into_iter().nth(number)
    }

    pub fn has_flag(&self, flag: &str) -> bool {
        let is_flag = |word: &CommandWord| matches!(word, CommandWord::Fixed(word) if word == flag);
        self.words.iter().any(is_flag)
    }

    /// The word behind a flag, its namespace included.
    pub fn value_of(&self, flag: &str) -> Option<String> {
        let mut words = self.argv().into_iter();
        words.find(|word| word == flag)?;
        words.next()
    }

    pub fn cluster(&self) -> Option<&str> {
        match &self.program {
            CommandProgram::Member(cluster) => Some(cluster),
            CommandProgram::Fleet | CommandProgram::Hub => None,
        }
    }

    /// The words, for a program: no shell needs to read them.
    pub fn argv(&self) -> Vec<String> {
        self.spelled(&CommandSpelling::default())
    }

    /// The words where it is called otherwise, leads elsewhere, or a member's context is known.
    pub fn spelled(&self, spelling: &CommandSpelling<'_>) -> Vec<String> {
        let mut words: Vec<String> = match &self.program {
            CommandProgram::Fleet if !spelling.program.is_empty() => spelling
                .program
                .iter()
                .map(|&word| word.to_owned())
                .collect(),
            CommandProgram::Fleet => vec!["kubectl".to_owned(), "fleet-stage".to_owned()],
            CommandProgram::Hub => vec!["kubectl".to_owned()],
            CommandProgram::Member(cluster) => {
                let context = spelling
                    .context
                    .map_or_else(|| format!("CONTEXT_OF_{cluster}"), str::to_owned);
                let mut words = vec!["kubectl".to_owned()];
                push_flag(&mut words, "--context", &context);
                words.extend(spelling.flags.iter().cloned());
                if !self.namespace.is_empty() {
                    push_flag(&mut words, "-n", &self.namespace);
                }
                words
            }
        };
        let looks_like_a_flag = |word: &CommandWord| matches!(word, CommandWord::Operand(word) if word.starts_with('-'));
        let hidden = self.words.iter().any(looks_like_a_flag);
        let mut last = Vec::new();
        for word in &self.words {
            match word {
                CommandWord::Operand(word) if hidden => last.push(word.clone()),
                CommandWord::Fixed(word) | CommandWord::Operand(word) => words.push(word.clone()),
            }
        }
        if !matches!(self.program, CommandProgram::Member(_)) {
            if !self.namespace.is_empty() {
                push_flag(&mut words, "-n", &self.namespace);
            }
            if !self.hub.is_empty() {
                push_flag(&mut words, "--context", &self.hub);
            }
            words.extend(spelling.flags.iter().cloned());
        }
        if hidden {
            words.push("--".to_owned());
            words.extend(last);
        }
        words
    }
}

/// How commands are written for somebody: by default as reports do.
#[derive(Debug, Clone, Copy, Default)]
pub struct CommandSpelling<'a> {
    /// The words that call the plugin.
    pub program: &'a [&'a str],
    /// The words that lead to the hub, or of a member's command to the file with its context.
    pub flags: &'a [String],
    /// The context that leads into the command's member cluster.
    pub context: Option<&'a str>,
}

fn push_flag(words: &mut Vec<String>, flag: &str, value: &str) {
    if value.starts_with('-') {
        words.push(format!("{flag}={value}"));
    } else {
        words.push(flag.to_owned());
        words.push(value.to_owned());
    }
}

/// No argument of a program can hold the character that ends it.
fn clean(word: String) -> String {
    if word.contains('\0') {
        word.replace('\0', "\u{fffd}")
    } else {
        word
    }
}

pub fn line<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let words: Vec<_> = words.into_iter().map(|word| quote(word.as_ref())).collect();
    words.join(" ")
}

/// The line to paste, as reports have it.
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line(self.argv()))
    }
}

/// A command in a document, beside other fields; absent where there is none.
#[derive(Serialize, JsonSchema)]
struct CommandFields {
    /// The command, if there is one, quoted for a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Its words, for programs that run it without a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    argv: Option<Vec<String>>,
}

thread_local! {
    /// The flags that lead to the hub, while documents are written.
    static LEADING: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Runs a command whose documents have these flags in the commands that ask a hub: whoever runs one of
/// them gets to the same hub as the same user.
pub fn leading<T>(flags: Vec<String>, run: impl FnOnce() -> T) -> T {
    let before = LEADING.replace(flags);
    let done = run();
    LEADING.set(before);
    done
}

impl CommandLine {
    fn documented(&self) -> Vec<String> {
        LEADING.with_borrow(|flags| {
            let flags = if self.asks_a_hub() {
                flags.as_slice()
            } else {
                &[]
            };
            self.spelled(&CommandSpelling {
                flags,
                ..CommandSpelling::default()
            })
        })
    }
}

impl Serialize for CommandLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let argv = self.documented();
        let command = Some(line(&argv));
        let argv = Some(argv);
        CommandFields { command, argv }.serialize(serializer)
    }
}

impl JsonSchema for CommandLine {
    fn schema_name() -> Cow<'static, str> {
        "Command".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        CommandFields::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

/// `next` and `nextArgv`: for a document whose own command comes next.
pub mod as_next {
    use serde::ser::SerializeMap;
    use serde::{Serialize, Serializer};

    use super::{CommandLine, line};

    /// Writes the fields, when there is a command.
    pub fn serialize<S: Serializer>(
        command: &Option<CommandLine>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(command) = command {
            let argv = command.documented();
            map.serialize_entry("next", &line(&argv))?;
            map.serialize_entry("nextArgv", &argv)?;
        }
        map.end()
    }

    /// The fields, for schemas.
    #[derive(Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct NextFields {
        /// The next command, if there is one, quoted for a shell.
        #[serde(skip_serializing_if = "Option::is_none")]
        next: Option<String>,
        /// Its words, for programs that run it without a shell.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_argv: Option<Vec<String>>,
    }
}
