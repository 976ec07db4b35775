//! What a person is shown before a write, as a value that can be compared with what is true later.

use std::collections::{BTreeMap, BTreeSet};

use super::neighbours::NeighborRun;

/// What is shown before a write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preview {
    said: Vec<PreviewLine>,
    facts: BTreeMap<String, PreviewFact>,
}

/// One thing that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewLine {
    /// A line of the preview.
    Line(String),
    /// A line that changes by itself while the run progresses: it is shown and not compared.
    Progress(String),
    /// Something that is good to know.
    Status(String),
    /// Something that a person should consider.
    Warning(String),
    /// A drawing, and the same as plain lines.
    Picture {
        drawn: String,
        /// As it is compared.
        plain: Vec<String>,
    },
}

/// Something that a preview was based on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PreviewFact {
    /// How it is, for people.
    how: String,
    /// What tells it from another that looks alike.
    identity: String,
}

/// How many differences are told.
const MOST: usize = 12;

impl Preview {
    /// Adds lines.
    pub fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        self.said.extend(lines.into_iter().map(PreviewLine::Line));
    }

    /// Adds lines that change by themselves.
    pub fn progress(&mut self, lines: impl IntoIterator<Item = String>) {
        self.said
            .extend(lines.into_iter().map(PreviewLine::Progress));
    }

    /// Adds something that is good to know.
    pub fn status(&mut self, text: &str) {
        self.said.push(PreviewLine::Status(text.to_owned()));
    }

    /// Adds something that a person should consider, once.
    pub fn warning(&mut self, text: &str) {
        let warning = PreviewLine::Warning(text.to_owned());
        if !self.said.contains(&warning) {
            self.said.push(warning);
        }
    }

    /// The same of all there are.
    pub fn warnings<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = T>) {
        for text in texts {
            self.warning(text.as_ref());
        }
    }

    /// Adds a drawing.
    pub fn picture(&mut self, drawn: String, plain: &str) {
        let plain = plain.lines().map(str::to_owned).collect();
        self.said.push(PreviewLine::Picture { drawn, plain });
    }

    /// Adds what it was based on: `what` is `how`, and is the one of this identity.
    pub fn fact(&mut self, what: impl Into<String>, how: impl Into<String>, identity: &str) {
        let fact = PreviewFact {
            how: how.into(),
            identity: identity.to_owned(),
        };
        self.facts.insert(what.into(), fact);
    }

    /// Adds the snapshot that a cluster has.
    pub fn cluster(&mut self, name: &str, index: Option<&str>) {
        let at = |index| format!("at snapshot {index}");
        let how = index.map_or_else(|| "without content".to_owned(), at);
        self.fact(format!("cluster {name}"), how, "");
    }

    /// Adds that these runs are on the placement too.
    pub fn neighbours(&mut self, neighbours: &[NeighborRun]) {
        for one in neighbours {
            self.fact(format!("run {}", one.name), one.how, &one.uid);
        }
    }

    /// Adds what another preview says, and what it was based on.
    pub fn append(&mut self, other: Self) {
        self.said.extend(other.said);
        self.facts.extend(other.facts);
    }

    /// What it was based on, without its words.
    #[must_use]
    pub fn facts(&self) -> Self {
        Self {
            said: Vec::new(),
            facts: self.facts.clone(),
        }
    }

    /// What is said, in order.
    pub fn said(&self) -> &[PreviewLine] {
        &self.said
    }

    /// What is different now, each as a line; empty where nothing is.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let names: BTreeSet<_> = self.facts.keys().chain(now.facts.keys()).collect();
        for name in names {
            match (self.facts.get(name), now.facts.get(name)) {
                (Some(shown), Some(now)) if shown.how != now.how => {
                    lines.push(format!("{name} was {} and is now {}", shown.how, now.how));
                }
                (Some(shown), Some(now)) if shown.identity != now.identity => {
                    lines.push(format!("{name} was replaced or changed"));
                }
                (Some(shown), None) => {
                    lines.push(format!("{name} was {} and no longer exists", shown.how));
                }
                (None, Some(now)) => lines.push(format!("{name} is new: {}", now.how)),
                _ => {}
            }
        }
        let (before, after) = (self.compared(), now.compared());
        let only_in = |lines: &[&str], other: &[&str], mark: &str| {
            let lines = lines.iter().filter(|line| !other.contains(*line));
            lines
                .map(|line| format!("{mark} {}", line.trim_start()))
                .collect::<Vec<_>>()
        };
        lines.extend(only_in(&before, &after, "-"));
        lines.extend(only_in(&after, &before, "+"));
        if lines.is_empty() && before != after {
            lines.push("the order of the lines above has changed".to_owned());
        }
        let more = lines.len().saturating_sub(MOST);
        if more > 1 {
            lines.truncate(MOST);
            lines.push(format!("and {more} more differences"));
        }
        lines
    }

    /// The lines that are compared.
    fn compared(&self) -> Vec<&str> {
        let mut lines = Vec::new();
        for said in &self.said {
            match said {
                PreviewLine::Line(text)
                | PreviewLine::Status(text)
                | PreviewLine::Warning(text) => lines.push(&**text),
                PreviewLine::Picture { plain, .. } => {
                    lines.extend(plain.iter().map(String::as_str));
                }
                PreviewLine::Progress(_) => {}
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Preview};

    fn preview(lines: &[&str], facts: &[(&str, &str, &str)]) -> Preview {
        let mut preview = Preview::default();
        preview.lines(lines.iter().map(ToString::to_string));
        for (what, how, identity) in facts {
            preview.fact(*what, *how, identity);
        }
        preview
    }

    #[test]
    fn what_is_the_same_has_no_differences() {
        let shown = preview(&["opens stage canary"], &[("run a", "in progress", "1")]);
        assert_eq!(shown.differences(&shown.clone()), [""; 0]);
        // What only moves on is no difference.
        let mut now = shown.clone();
        now.progress(["2 of 3 clusters are done".to_owned()]);
        assert_eq!(shown.differences(&now), [""; 0]);
        assert_eq!(now.differences(&shown), [""; 0]);
    }

    #[test]
    fn each_fact_that_differs_is_told() {
        let of = |has: &str, request: &str, run: (&str, &str, &str)| {
            let cluster = ("cluster m-1", has, "");
            preview(&[], &[cluster, ("request r", "pending", request), run])
        };
        let (has, run) = ("at snapshot 1", ("run a", "in progress", "1"));
        let shown = of(has, "u/7", run);
        let moved = "cluster m-1 was at snapshot 1 and is now at snapshot 2";
        let other = "run a was in progress and no longer exists; run b is new: stopped";
        for (now, wanted) in [
            (of("at snapshot 2", "u/7", run), moved),
            (of(has, "u/8", run), "request r was replaced or changed"),
            (of(has, "u/7", ("run b", "stopped", "2")), other),
        ] {
            assert_eq!(shown.differences(&now).join("; "), wanted);
        }
    }

    #[test]
    fn lines_that_differ_are_told_with_where_they_stand() {
        let shown = preview(&["a", "  snapshot 0 to 1: m-1", "c"], &[]);
        let now = preview(&["a", "  snapshot 2 to 1: m-1", "c"], &[]);
        assert_eq!(
            shown.differences(&now),
            ["- snapshot 0 to 1: m-1", "+ snapshot 2 to 1: m-1"]
        );
        let mut drawn = Preview::default();
        drawn.picture("painted".to_owned(), "one\ntwo");
        let mut other = Preview::default();
        other.picture("painted otherwise".to_owned(), "one\ntwo");
        assert_eq!(drawn.differences(&other), [""; 0]);
        other.warning("three");
        assert_eq!(drawn.differences(&other), ["+ three"]);
        // The same lines in another order are not the same.
        let [ab, ba] = [["a", "b"], ["b", "a"]].map(|lines| preview(&lines, &[]));
        assert_eq!(ab.differences(&ba).len(), 1);
    }

    #[test]
    fn many_differences_are_counted() {
        let names: Vec<_> = (0..40).map(|number| format!("line {number}")).collect();
        let mut now = Preview::default();
        now.lines(names);
        let lines = Preview::default().differences(&now);
        assert_eq!(lines.len(), MOST + 1);
        assert_eq!(lines.last().unwrap(), "and 28 more differences");
    }
}
