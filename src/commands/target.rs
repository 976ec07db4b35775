//! Which object a user means: a name, or TYPE/NAME, with or without a namespace.

use crate::error::{Error, did_you_mean};
use crate::kubefleet::{Concept, Kind, ObjectRef, Scope};

/// The runs and placements among which a name is looked for.
pub(super) struct Known<'k> {
    /// Their names.
    pub objects: &'k [ObjectRef],
    /// What names the input in an error: `the bundle`.
    pub place: &'k str,
}

/// Finds the run or placement that `word` means.
pub(super) fn resolve(
    word: &str,
    namespace: Option<&str>,
    known: &Known<'_>,
) -> Result<ObjectRef, Error> {
    let scope = Scope::of_namespace(namespace.unwrap_or_default());
    if let Some((kind, name)) = word.split_once('/') {
        return typed(kind, name, namespace, known);
    }
    let run = scope.object(Concept::UpdateRun, word);
    let placement = scope.object(Concept::Placement, word);
    match (
        known.objects.contains(&run),
        known.objects.contains(&placement),
    ) {
        (true, true) => Err(Error::usage(format!(
            "{word:?} is the name of an update run and of a placement"
        ))
        .hint(format!("say which: {} or {}", form(&run), form(&placement)))),
        (true, false) => Ok(run),
        (false, true) => Ok(placement),
        (false, false) => Err(missing(
            word,
            &scope,
            known,
            &[Concept::UpdateRun, Concept::Placement],
        )),
    }
}

fn typed(
    kind: &str,
    name: &str,
    namespace: Option<&str>,
    known: &Known<'_>,
) -> Result<ObjectRef, Error> {
    let Some(kind) = Kind::from_word(kind) else {
        return Err(
            Error::usage(format!("{kind:?} is not a type that can be diagnosed"))
                .hint("use csur/NAME or crp/NAME, and with -n sur/NAME or rp/NAME"),
        );
    };
    if !matches!(kind.concept(), Concept::UpdateRun | Concept::Placement) {
        return Err(Error::usage(format!(
            "a {kind} cannot be diagnosed, only update runs and placements"
        ))
        .hint("use csur/NAME or crp/NAME, and with -n sur/NAME or rp/NAME"));
    }
    if name.is_empty() {
        return Err(Error::usage("the name behind the / is missing"));
    }
    let candidate = match (kind.is_namespaced(), namespace) {
        (false, Some(namespace)) => {
            return Err(Error::usage(format!(
                "a {kind} has no namespace, but -n {namespace} was given"
            ))
            .hint(format!(
                "leave out -n, or use {}/{name}",
                in_other_scope(kind).short_names()[0]
            )));
        }
        (false, None) => ObjectRef {
            kind,
            namespace: String::new(),
            name: name.to_owned(),
        },
        (true, Some(namespace)) => ObjectRef {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        },
        (true, None) => return in_one_namespace(kind, name, known),
    };
    if known.objects.contains(&candidate) {
        Ok(candidate)
    } else {
        Err(missing(name, &candidate.scope(), known, &[kind.concept()]))
    }
}

/// A namespaced type without a namespace: clear when the input has just one such object.
fn in_one_namespace(kind: Kind, name: &str, known: &Known<'_>) -> Result<ObjectRef, Error> {
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
        several => {
            let forms: Vec<_> = several.iter().map(|object| form(object)).collect();
            Err(Error::usage(format!(
                "{kind} {name} exists in {} namespaces",
                several.len()
            ))
            .hint(format!("say which: {}", forms.join(" or "))))
        }
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

fn missing(name: &str, scope: &Scope, known: &Known<'_>, concepts: &[Concept]) -> Error {
    let words: Vec<_> = concepts
        .iter()
        .map(|concept| scope.kind(*concept).name())
        .collect();
    let place = match scope {
        Scope::Namespace(namespace) if !namespace.is_empty() => {
            format!(" in namespace {namespace} of {}", known.place)
        }
        _ => format!(" in {}", known.place),
    };
    let error = Error::not_found(format!(
        "there is no {} {name:?}{place}",
        words.join(" or ")
    ));
    let wanted = |object: &&ObjectRef| concepts.contains(&object.kind.concept());
    let elsewhere: Vec<_> = known
        .objects
        .iter()
        .filter(wanted)
        .filter(|object| object.name == name)
        .map(form)
        .collect();
    if !elsewhere.is_empty() {
        return error.hint(format!(
            "it exists elsewhere: use {}",
            elsewhere.join(" or ")
        ));
    }
    let here = || {
        known
            .objects
            .iter()
            .filter(wanted)
            .filter(|object| object.scope() == *scope)
    };
    if let Some(near) = did_you_mean(name, here().map(|object| object.name.as_str())) {
        return error.hint(format!("did you mean {near}?"));
    }
    if let Some(near) = known
        .objects
        .iter()
        .filter(wanted)
        .find(|object| did_you_mean(name, [object.name.as_str()]).is_some())
    {
        return error.hint(format!("did you mean {}?", form(near)));
    }
    let mut forms: Vec<_> = known.objects.iter().filter(wanted).map(form).collect();
    forms.sort();
    match forms.len() {
        0 => error.hint(format!("{} holds none at all", known.place)),
        1..=10 => error.hint(format!("{} has {}", known.place, forms.join(", "))),
        more => error.hint(format!(
            "{} has {more} others; --all diagnoses every run",
            known.place
        )),
    }
}

/// How a user names an object so that nothing else is meant.
pub(super) fn form(object: &ObjectRef) -> String {
    let short = object
        .kind
        .short_names()
        .first()
        .copied()
        .unwrap_or(object.kind.plural());
    format!("{short}/{}{}", object.name, object.flag())
}

#[cfg(test)]
mod tests {
    use super::{Known, resolve};
    use crate::kubefleet::{Kind, ObjectRef};

    fn object(kind: Kind, namespace: &str, name: &str) -> ObjectRef {
        ObjectRef {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    fn outcome(word: &str, namespace: Option<&str>) -> String {
        let objects = [
            object(Kind::ClusterStagedUpdateRun, "", "example-run"),
            object(Kind::ClusterStagedUpdateRun, "", "both"),
            object(Kind::ClusterResourcePlacement, "", "both"),
            object(Kind::ClusterResourcePlacement, "", "web"),
            object(Kind::StagedUpdateRun, "a", "twice"),
            object(Kind::StagedUpdateRun, "b", "twice"),
            object(Kind::StagedUpdateRun, "a", "once"),
        ];
        match resolve(
            word,
            namespace,
            &Known {
                objects: &objects,
                place: "the bundle",
            },
        ) {
            Ok(found) => found.to_string(),
            Err(error) => {
                format!(
                    "{}: {} | {}",
                    error.exit.code(),
                    error.message,
                    error.hint.unwrap_or_default()
                )
            }
        }
    }

    #[test]
    fn names_are_found_where_they_are_meant() {
        assert_eq!(
            outcome("example-run", None),
            "ClusterStagedUpdateRun example-run"
        );
        assert_eq!(outcome("web", None), "ClusterResourcePlacement web");
        assert_eq!(outcome("crp/both", None), "ClusterResourcePlacement both");
        assert_eq!(
            outcome("clusterstagedupdateruns/both", None),
            "ClusterStagedUpdateRun both"
        );
        assert_eq!(outcome("once", Some("a")), "StagedUpdateRun a/once");
        assert_eq!(outcome("sur/once", None), "StagedUpdateRun a/once");
    }

    #[test]
    fn what_is_not_clear_is_said() {
        assert_eq!(
            outcome("both", None),
            "2: \"both\" is the name of an update run and of a placement | say which: csur/both or crp/both"
        );
        assert_eq!(
            outcome("sur/twice", None),
            "2: StagedUpdateRun twice exists in 2 namespaces | say which: sur/twice -n a or sur/twice -n b"
        );
        assert!(
            outcome("csur/x", Some("a"))
                .starts_with("2: a ClusterStagedUpdateRun has no namespace")
        );
        assert!(outcome("pod/x", None).starts_with("2: \"pod\" is not a type"));
        assert!(
            outcome("careq/x", None).starts_with("2: a ClusterApprovalRequest cannot be diagnosed")
        );
        assert!(outcome("once", None).ends_with("it exists elsewhere: use sur/once -n a"));
        assert!(outcome("exmaple-run", None).ends_with("did you mean example-run?"));
        assert!(
            outcome("zzz", Some("a"))
                .starts_with("6: there is no StagedUpdateRun or ResourcePlacement")
        );
    }
}
