//! Which object a user means: a name, or TYPE/NAME, with or without a namespace.

use crate::error::Error;
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};
use crate::words::{CommandClass, CommandLine, FleetVerb, Hint, closest, enumerate};

/// The runs and placements among which a name is looked for.
pub struct KnownNames<'k> {
    pub objects: &'k [ObjectRef],
    pub are_all: bool,
    /// What errors call the place where they were looked for: `the input`.
    pub place: &'k str,
    pub command: &'static str,
    /// What a bare name may mean.
    pub concepts: &'k [Concept],
    /// The flags by which a command looks in the same place, with their leading space.
    pub again: &'k [String],
}

impl KnownNames<'_> {
    fn writes(&self) -> bool {
        FleetVerb::named(self.command).is_some_and(|it| it.class != CommandClass::Looks)
    }

    fn types(&self) -> String {
        let name = |scope: &Scope| {
            let forms: Vec<_> = self
                .concepts
                .iter()
                .map(|concept| format!("{}/NAME", scope.kind(*concept).short_word()))
                .collect();
            forms.join(" or ")
        };
        format!(
            "use {}, or with -n {}",
            name(&Scope::Cluster),
            name(&Scope::Namespace(String::new()))
        )
    }
}

/// What a line calls one of several objects: its name, with its type where another has the same name,
/// and its hub where there are several.
pub fn label<'o>(
    hub: Option<&str>,
    object: &ObjectRef,
    mut others: impl Iterator<Item = &'o ObjectRef>,
) -> String {
    let name = if others.any(|other| other != object && other.name == object.name) {
        object.word()
    } else {
        object.name.clone()
    };
    match hub {
        Some(hub) => format!("{hub}: {name}"),
        None => name,
    }
}

/// The object of one concept that a word names in a scope, whether it exists or not: a name, or
/// TYPE/NAME of that concept and scope.
pub fn of_one(word: &str, concept: Concept, scope: &Scope) -> Result<ObjectRef, Error> {
    let object = scope.object(concept, word);
    let Some((kind, name)) = word.split_once('/') else {
        return if word.is_empty() {
            Err(Error::usage(format!(
                "the name of the {} is empty",
                object.kind
            )))
        } else {
            Ok(object)
        };
    };
    let typed = Kind::from_word(kind);
    if typed == Some(object.kind) && !name.is_empty() {
        return Ok(scope.object(concept, name));
    }
    let own = object.kind.short_word();
    Err(Error::usage(match typed {
        Some(other) if other.concept() == concept => format!(
            "{word:?} is a {other}, which is in a different scope than the run; use {own}/NAME{}",
            scope.flag()
        ),
        _ => format!("{word:?} is not a {}: use NAME or {own}/NAME", object.kind),
    }))
}

/// The run that is to be made, by a word as for [`of_one`].
pub fn of_new_run(word: &str, scope: &Scope) -> Result<ObjectRef, Error> {
    let run = of_one(word, Concept::UpdateRun, scope)?;
    match crate::change::names::fault(&run.name) {
        Some(why) => Err(Error::usage(why).hint("choose another name")),
        None => Ok(run),
    }
}

/// Finds the run or placement that `word` means.
pub fn resolve(
    word: &str,
    namespace: Option<&str>,
    known: &KnownNames<'_>,
) -> Result<ObjectRef, Error> {
    let scope = Scope::of_namespace(namespace.unwrap_or_default());
    if let Some((kind, name)) = word.split_once('/') {
        return typed(kind, name, namespace, known);
    }
    let meant: Vec<_> = known
        .concepts
        .iter()
        .map(|concept| scope.object(*concept, word))
        .filter(|object| known.objects.contains(object))
        .collect();
    match meant.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(missing(word, &scope, known, known.concepts)),
        several => Err(Error::usage(format!(
            "{word:?} is the name of {}",
            enumerate(several.iter().map(|object| match object.kind.concept() {
                Concept::UpdateRun => "an update run",
                Concept::ApprovalRequest => "an approval request",
                _ => "a placement",
            }))
        ))
        .hint(commands(
            "use one of:",
            &several.iter().collect::<Vec<_>>(),
            known,
        ))),
    }
}

fn typed(
    kind: &str,
    name: &str,
    namespace: Option<&str>,
    known: &KnownNames<'_>,
) -> Result<ObjectRef, Error> {
    let Some(kind) = Kind::from_word(kind) else {
        return Err(Error::usage(format!("{kind:?} is not a resource type")).hint(known.types()));
    };
    if !known.concepts.contains(&kind.concept()) {
        return Err(
            Error::usage(format!("{} does not accept a {kind}", known.command)).hint(known.types()),
        );
    }
    if name.is_empty() {
        return Err(Error::usage("the name after / is missing"));
    }
    let candidate = match (kind.is_namespaced(), namespace) {
        (false, Some(namespace)) => {
            return Err(Error::usage(format!(
                "a {kind} is cluster-scoped, but -n {namespace} was set"
            ))
            .hint(format!(
                "leave out -n, or use {}/{name}",
                in_other_scope(kind).short_word()
            )));
        }
        (false, None) => ObjectRef::new(kind, "", name),
        (true, Some(namespace)) => ObjectRef::new(kind, namespace, name),
        (true, None) => return in_one_namespace(kind, name, known),
    };
    if known.objects.contains(&candidate) {
        Ok(candidate)
    } else {
        Err(missing(name, &candidate.scope(), known, &[kind.concept()]))
    }
}

/// A namespaced type without a namespace: clear when the input has just one such object.
fn in_one_namespace(kind: Kind, name: &str, known: &KnownNames<'_>) -> Result<ObjectRef, Error> {
    let found: Vec<_> = known
        .objects
        .iter()
        .filter(|object| object.kind == kind && object.name == name)
        .collect();
    match found.as_slice() {
        [] => Err(missing(
            name,
            &Scope::Namespace(String::new()),
            known,
            &[kind.concept()],
        )),
        [one] => Ok((*one).clone()),
        several => Err(Error::usage(format!(
            "{kind} {name:?} exists in {} namespaces of {}",
            several.len(),
            known.place
        ))
        .hint(commands("use one of:", several, known))),
    }
}

fn in_other_scope(kind: Kind) -> Kind {
    let scope = if kind.is_namespaced() {
        Scope::Cluster
    } else {
        Scope::Namespace(String::new())
    };
    scope.kind(kind.concept())
}

fn missing(name: &str, scope: &Scope, known: &KnownNames<'_>, concepts: &[Concept]) -> Error {
    let words: Vec<_> = concepts
        .iter()
        .map(|concept| scope.kind(*concept).name())
        .collect();
    let place = match scope {
        Scope::Namespace(namespace) if !namespace.is_empty() => {
            format!(" in namespace {namespace} of {}", known.place)
        }
        Scope::Namespace(_) => format!(" in any namespace of {}", known.place),
        // Objects are on a hub, and in files.
        Scope::Cluster if known.place == "the hub" => " on the hub".to_owned(),
        Scope::Cluster => format!(" in {}", known.place),
    };
    let error = Error::not_found(format!("{} {name:?} not found{place}", words.join(" or ")));
    let others: Vec<_> = known
        .objects
        .iter()
        .filter(|object| concepts.contains(&object.kind.concept()))
        .collect();
    // Also what it is not looked for as: a run of that name when a placement was asked for.
    let elsewhere: Vec<_> = known
        .objects
        .iter()
        .filter(|object| object.name == name)
        .collect();
    let (fitting, other): (Vec<_>, Vec<_>) = elsewhere
        .into_iter()
        .partition(|object| known.concepts.contains(&object.kind.concept()));
    if !fitting.is_empty() {
        // Of several, who reads chooses which one is changed.
        let named = "objects with this name:";
        return error.hint(if fitting.len() > 1 && known.writes() {
            Hint::new(format!(
                "{named} {}",
                enumerate(fitting.into_iter().map(form))
            ))
        } else {
            commands(named, &fitting, known)
        });
    }
    if let Some(other) = other.first() {
        return error.hint(about_other(other, known));
    }
    // First where it was looked for, then anywhere.
    let here = others.iter().filter(|object| object.scope() == *scope);
    let near = closest(name, here.map(|object| object.name.as_str())).map_or_else(
        || closest(name, others.iter().map(|object| object.name.as_str())),
        Some,
    );
    if let Some(near) = near {
        let is_near = |object: &&&ObjectRef| object.name == near;
        let near_here = |object: &&&ObjectRef| is_near(object) && object.scope() == *scope;
        let mut meant: Vec<_> = others.iter().filter(near_here).copied().collect();
        if meant.is_empty() {
            meant = others.iter().filter(is_near).copied().collect();
        }
        // A guess is not made a command that changes another run.
        return error.hint(if known.writes() {
            Hint::new(format!(
                "did you mean {}?",
                enumerate(meant.into_iter().map(form))
            ))
        } else {
            commands("did you mean:", &meant, known)
        });
    }
    match others.len() {
        0 if !known.are_all => error,
        0 => error.hint(format!("{} has none", known.place)),
        1..=10 => {
            let forms: Vec<_> = others.into_iter().map(form).collect();
            error.hint(format!("{} has {}", known.place, forms.join(", ")))
        }
        more => {
            let has = format!("{} has {more} such objects", known.place);
            let list = CommandLine::fleet("list").namespace(scope.namespace());
            error.hint(if concepts.contains(&Concept::UpdateRun) {
                Hint::new(format!("{has}; to list the update runs:"))
                    .command(again(list, known.again))
            } else {
                Hint::new(has)
            })
        }
    }
}

/// What leads on from an object that the command does not take.
fn about_other(object: &ObjectRef, known: &KnownNames<'_>) -> Hint {
    let (lead, command) = if object.kind.concept() == Concept::Placement {
        let runs = CommandLine::fleet("list").flag("--placement", object.word());
        ("a placement has this name; its update runs:", runs)
    } else {
        let status = CommandLine::fleet("status").arg(object.word());
        ("an update run has this name; its placement:", status)
    };
    let command = command.namespace(&object.namespace);
    Hint::new(lead).command(again(command, known.again))
}

/// Commands that name the objects, one a line.
fn commands(lead: &str, objects: &[&ObjectRef], known: &KnownNames<'_>) -> Hint {
    let command = |object: &&ObjectRef| {
        let command = CommandLine::fleet(known.command).arg(object.word());
        again(command.namespace(&object.namespace), known.again)
    };
    Hint::new(lead).commands(objects.iter().map(command))
}

pub fn again(command: CommandLine, files: &[String]) -> CommandLine {
    files
        .iter()
        .fold(command, |command, file| command.flag("-f", file))
}

/// How a user names an object so that nothing else is meant.
pub fn form(object: &ObjectRef) -> String {
    format!(
        "{}/{}{}",
        object.kind.short_word(),
        object.name,
        object.flag()
    )
}

#[cfg(test)]
mod tests;
