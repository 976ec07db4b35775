//! One question to a cluster, the hub or a member, and how it went.

/// Asks for objects of a kind. `K` has the kinds of a place: the hub's are KubeFleet's, a member's
/// are Kubernetes'. `L` is a condition on labels, as that place needs it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Query<K, L> {
    pub kind: K,
    pub which: QuerySelection<L>,
}

/// Which objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuerySelection<L> {
    Named {
        /// Empty for cluster-scoped kinds.
        namespace: String,
        name: String,
    },
    /// All of them, or those with these labels.
    All {
        /// `None` means everywhere.
        namespace: Option<String>,
        labels: Option<L>,
    },
}

impl<L> QuerySelection<L> {
    /// Where they are; `None` means everywhere, and empty that the kind has no namespace.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::Named { namespace, .. } => Some(namespace),
            Self::All { namespace, .. } => namespace.as_deref(),
        }
    }
}

impl<K, L> Query<K, L> {
    /// Asks for one object.
    pub fn named(kind: K, namespace: &str, name: &str) -> Self {
        Self {
            kind,
            which: QuerySelection::Named {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
        }
    }

    /// Asks for every object of a kind in a namespace; everywhere when it is empty.
    pub fn all(kind: K, namespace: &str) -> Self {
        Self::some(kind, namespace, None)
    }

    /// Asks for the objects with these labels in a namespace; everywhere when it is empty.
    pub fn with_labels(kind: K, namespace: &str, labels: L) -> Self {
        Self::some(kind, namespace, Some(labels))
    }

    fn some(kind: K, namespace: &str, labels: Option<L>) -> Self {
        let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
        Self {
            kind,
            which: QuerySelection::All { namespace, labels },
        }
    }
}

/// How a query went.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Answered in full: what is not among the objects does not exist.
    Listed,
    /// Only so many objects were read.
    Cut(usize),
    /// Forbidden, and the server's words.
    Denied(String),
    /// The API server does not serve the kind.
    NotServed,
    /// Nobody asked: what is not among the objects is unknown.
    NotCollected,
    /// Asked without an answer, and why.
    Failed(String),
}

/// The gap of a kind that nobody asked for.
pub const NOT_COLLECTED: &str = "not collected";

/// The gap of a kind that the hub's API server does not serve: it has no objects.
pub const NOT_SERVED: &str = "the hub does not serve this kind";

impl Outcome {
    /// Why absent objects are unknown; `None` when they are known not to exist.
    pub fn gap(&self) -> Option<String> {
        match self {
            Self::Listed => None,
            Self::Cut(read) => Some(format!("only the first {read} were read")),
            Self::Denied(why) if why.is_empty() => Some("forbidden".to_owned()),
            Self::Denied(why) if why.starts_with("forbidden") => Some(why.clone()),
            Self::Denied(why) => Some(format!("forbidden: {why}")),
            Self::NotServed => Some(NOT_SERVED.to_owned()),
            Self::NotCollected => Some(NOT_COLLECTED.to_owned()),
            Self::Failed(why) => Some(format!("could not be read: {why}")),
        }
    }

    /// Of two outcomes the one that promises less; of two that promise as little, the same one
    /// whatever their order.
    #[must_use]
    pub fn lesser(self, other: Self) -> Self {
        const fn promise(outcome: &Outcome) -> u8 {
            match outcome {
                Outcome::Listed => 5,
                Outcome::NotServed => 4,
                Outcome::Cut(_) => 3,
                Outcome::NotCollected => 2,
                Outcome::Denied(_) => 1,
                Outcome::Failed(_) => 0,
            }
        }
        if (promise(&other), &other) < (promise(&self), &self) {
            other
        } else {
            self
        }
    }

    /// The word for it in a bundle, and why.
    pub fn word(&self) -> (&'static str, &str) {
        match self {
            Self::Listed => ("listed", ""),
            Self::Cut(_) => ("cut", ""),
            Self::Denied(why) => ("denied", why),
            Self::NotServed => ("notServed", ""),
            Self::NotCollected => ("notCollected", ""),
            Self::Failed(why) => ("failed", why),
        }
    }

    /// What a word of a bundle stands for. `read` is how many objects were read of a list that was
    /// cut.
    pub fn of_word(word: &str, why: String, read: usize) -> Option<Self> {
        Some(match word {
            "listed" => Self::Listed,
            "cut" => Self::Cut(read),
            "denied" => Self::Denied(why),
            "notServed" | "notInstalled" => Self::NotServed,
            "notCollected" => Self::NotCollected,
            "failed" => Self::Failed(why),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn words_are_read_back() {
        for outcome in [
            Outcome::Listed,
            Outcome::Cut(7),
            Outcome::Denied("no".to_owned()),
            Outcome::NotServed,
            Outcome::NotCollected,
            Outcome::Failed("late".to_owned()),
        ] {
            let (word, why) = outcome.word();
            let read = Outcome::of_word(word, why.to_owned(), 7);
            assert_eq!(read, Some(outcome), "{word}");
        }
        assert_eq!(Outcome::of_word("other", String::new(), 0), None);
    }

    #[test]
    fn the_lesser_of_two_promises_less() {
        let gap = || Outcome::Cut(3);
        assert_eq!(Outcome::Listed.lesser(gap()), gap());
        assert_eq!(Outcome::NotServed.lesser(gap()), gap());
        assert_eq!(gap().lesser(Outcome::NotCollected), Outcome::NotCollected);
        let (one, two) = (Outcome::Failed("a".into()), Outcome::Failed("b".into()));
        assert_eq!(one.clone().lesser(two.clone()), two.lesser(one));
    }
}
