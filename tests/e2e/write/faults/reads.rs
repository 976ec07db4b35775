//! Each read behind a preview fails: what a guard needs refuses, the rest is told.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use kubectl_fleet_stage::change::guard::{self, Guard};
use kubectl_fleet_stage::kubefleet::{Concept, Scope as PluginScope};
use test_hub::{Fault, Rule};

use super::{DEEDS, Deed, Subject, tabled};
use crate::scene::Scene;
use crate::write::Did;
use crate::write::desk::Desk;

/// How a read fails.
const FAILURES: [(&str, Fault); 7] = [
    ("403", Fault::Forbidden),
    ("503", Fault::Unavailable(None)),
    ("404, not served", Fault::NotServed),
    ("no answer in time", Fault::Hang),
    ("200 with a login page", Fault::NoJson),
    ("200 with the status of a failure", Fault::OtherKind),
    ("cut off", Fault::Cut { bytes: 40 }),
];

/// So many reads are tried one after the other where each takes its time, because the command waits or asks
/// again.
const SLOW: usize = 4;

/// Something that a command reads: one object of a kind, or a list of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Read {
    plural: String,
    list: bool,
}

/// What a command does without a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    /// It refuses, and sends nothing.
    Refused,
    /// It says what it could not read, and goes on.
    Told,
    /// It goes on: nothing of its preview hangs on it.
    Unneeded,
}

/// The cells of each deed, in both scopes.
pub(super) type Table = BTreeMap<(Deed, bool), BTreeMap<Read, Cell>>;

impl Deed {
    /// What it must have seen.
    const fn guards(self) -> &'static [Guard] {
        match self {
            Self::Approve => guard::APPROVE,
            Self::Start => guard::START,
            Self::Make => guard::LAUNCH,
            // It goes back on purpose.
            Self::Rollback => &[Guard::Others, Guard::Plan],
            Self::Init => guard::INIT,
            Self::Resume => guard::RESUME,
            Self::Stop | Self::Delete => &[],
        }
    }

    /// The flags that take the responsibility for what cannot be seen.
    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Approve | Self::Start | Self::Make | Self::Resume => {
                &["--allow-older", "--allow-unseen"]
            }
            Self::Init | Self::Rollback => &["--allow-unseen"],
            Self::Stop | Self::Delete => &[],
        }
    }

    /// Whether it cannot do without the list of runs at all, whatever flag is given.
    const fn lists_runs(self) -> bool {
        matches!(self, Self::Rollback)
    }
}

/// The reads of a command that came by.
fn reads(desk: &Desk<'_>) -> BTreeSet<Read> {
    let group = "/apis/placement.kubernetes-fleet.io/";
    let clusters = "/apis/cluster.kubernetes-fleet.io/";
    desk.proxy
        .requests()
        .iter()
        .filter(|seen| seen.method == Method::GET)
        .filter_map(|seen| {
            let target = seen.target.as_str();
            let rest = [group, clusters]
                .iter()
                .find_map(|group| target.strip_prefix(group))?;
            let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
            // The version, then perhaps a namespace, then the kind, then perhaps a name.
            let mut words: Vec<_> = path.split('/').skip(1).collect();
            if words.first() == Some(&"namespaces") && words.len() > 2 {
                words.drain(..2);
            }
            let plural = (*words.first()?).to_owned();
            let list = words.len() == 1 && !query.contains("watch=");
            (list || words.len() > 1).then_some(Read { plural, list })
        })
        .collect()
}

impl Read {
    fn rule(&self, fault: Fault) -> Rule {
        let end = if self.list { '?' } else { '/' };
        Rule::new(format!("/{}{end}", self.plural), fault).method(Method::GET)
    }

    /// How the page calls it.
    fn words(&self) -> String {
        let how = if self.list { "list" } else { "get" };
        // Both scopes have one row.
        let kind = self.plural.strip_prefix("cluster").unwrap_or(&self.plural);
        format!("{how} {kind}")
    }
}

/// The kinds that the guards of a deed need, by their plural.
fn needed(deed: Deed, scene: &Scene) -> BTreeSet<&'static str> {
    let scope = PluginScope::of_namespace(if scene.namespaced {
        &scene.namespace
    } else {
        ""
    });
    deed.guards()
        .iter()
        .flat_map(|guard| guard.reads())
        .map(|concept: &Concept| scope.kind(*concept).plural())
        .collect()
}

/// The words that the command is called with; the server only checks what would be done.
fn words<'w>(
    deed: Deed,
    scene: &'w Scene,
    subject: &'w Subject,
    placement: &'w str,
    more: &[&'w str],
) -> Vec<&'w str> {
    let mut words = deed.words(scene, subject, placement);
    words.push("--dry-run=server");
    words.extend(more);
    words
}

/// Tries a deed without each of its reads.
pub(super) fn tried(deed: Deed, scene: &Scene) -> BTreeMap<Read, Cell> {
    deed.set(scene);
    let desk = Desk::at(scene);
    let subject = deed.prepare(scene, 0);
    let placement = scene.placement_word();
    let call = |more: &[&'static str]| words(deed, scene, &subject, &placement, more);
    desk.does(&call(&[])).ends(0);
    let reads = Vec::from_iter(reads(&desk));
    let needed = needed(deed, scene);
    let failures = if scene.namespaced {
        &FAILURES[..1]
    } else {
        &FAILURES[..]
    };
    // Nothing is done, so that all can be tried at once.
    let cells: Vec<Vec<(Read, Cell)>> = std::thread::scope(|scope| {
        let tries: Vec<_> = failures
            .iter()
            .flat_map(|(name, fault)| {
                let is_slow = matches!(
                    fault,
                    Fault::Unavailable(_) | Fault::Hang | Fault::Cut { .. }
                );
                let several = if is_slow { SLOW } else { reads.len() };
                let parts = reads.chunks(several);
                parts.map(move |reads| (name, fault, reads))
            })
            .map(|(name, fault, reads)| {
                let (needed, call) = (&needed, &call);
                scope.spawn(move || {
                    let desk = Desk::at(scene);
                    let one = |read: &Read| {
                        let what = format!("{deed:?} with {read:?}: {name}");
                        let attempt = |more: &[&'static str]| {
                            desk.proxy.clear().unwrap();
                            desk.proxy.rules(vec![read.rule(fault.clone())]);
                            let did = desk.start(&call(more)).end();
                            (judge(&what, read, &did, &desk), did)
                        };
                        // A run needs its own strategy; whether another one hides it is told where it can be.
                        let hides = read.plural.ends_with("strategies");
                        let is_needed =
                            needed.contains(read.plural.as_str()) && read.list && !hides;
                        let (cell, did) = match fault {
                            Fault::Hang => {
                                let (cell, did) = attempt(&["--request-timeout=4s"]);
                                // Another answer may be late where the machine is busy.
                                if cell == Cell::Refused && !is_needed {
                                    attempt(&["--request-timeout=15s"])
                                } else {
                                    (cell, did)
                                }
                            }
                            _ => attempt(&[]),
                        };
                        assert!(
                            !is_needed || cell == Cell::Refused,
                            "{what}: a guard could not see:\n{}{}",
                            did.ran.out,
                            did.ran.err
                        );
                        if *fault == Fault::Forbidden && is_needed {
                            takes_it_on(deed, &what, read, &desk, &call(deed.flags()));
                        }
                        (read.clone(), cell)
                    };
                    // A hub that serves no overrides has none.
                    let may_lack = |read: &&Read| {
                        *fault == Fault::NotServed && read.plural.ends_with("overridesnapshots")
                    };
                    let reads = reads.iter().filter(|read| !may_lack(read));
                    reads.map(one).collect()
                })
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut table: BTreeMap<Read, Cell> = BTreeMap::new();
    for (read, cell) in cells.into_iter().flatten() {
        let first = *table.entry(read.clone()).or_insert(cell);
        assert_eq!(
            first, cell,
            "{deed:?} with {read:?}: not the same for every failure"
        );
    }
    table
}

/// With the flags that take the responsibility it goes on.
fn takes_it_on(deed: Deed, what: &str, read: &Read, desk: &Desk<'_>, words: &[&str]) {
    if deed.lists_runs() && read.plural.ends_with("stagedupdateruns")
        || deed == Deed::Rollback && read.plural.ends_with("resourcesnapshots")
    {
        // Without these nobody knows where to go back to.
        return;
    }
    desk.proxy.clear().unwrap();
    desk.proxy.rules(vec![read.rule(Fault::Forbidden)]);
    let did = desk.start(words).end();
    let said = format!("{}{}", did.ran.out, did.ran.err);
    assert_eq!(did.ran.code, 0, "{what}, taken on:\n{said}");
    assert!(!desk.arrived().is_empty(), "{what}, taken on:\n{said}");
}

/// What a command did without a read.
fn judge(what: &str, read: &Read, did: &Did, desk: &Desk<'_>) -> Cell {
    let said = format!("{}{}", did.ran.out, did.ran.err);
    let what = format!("{what}: {}\n{said}", did.ran.code);
    assert!(!said.contains("panicked"), "{what}");
    let checked = |seen: &test_hub::Seen| {
        seen.target.contains("dryRun=All") || String::from_utf8_lossy(&seen.body).contains("dryRun")
    };
    let writes = desk.writes();
    assert!(writes.iter().all(checked), "{what}");
    if did.ran.code != 0 {
        assert!(writes.is_empty(), "{what}");
        assert!([1, 7].contains(&did.ran.code), "{what}");
        return Cell::Refused;
    }
    assert!(!writes.is_empty(), "{what}");
    let singular = read.plural.strip_suffix('s').unwrap_or(&read.plural);
    if said.to_lowercase().contains(singular) {
        Cell::Told
    } else {
        Cell::Unneeded
    }
}

/// The table as the reference has it.
pub(super) fn page(table: &Table) -> String {
    let text = "\n## When a read fails\n\nA command reads what it shows before it writes. Each of these \
         reads was made to fail in turn. In cluster scope: forbidden, 503, not served, no answer \
         in time, a login page or another kind with status 200, and a truncated answer. In a \
         namespace: forbidden. If a check cannot read what it needs, the command exits with 7 (1 for its own object), and nothing is \
         sent; `--allow-older` or `--allow-unseen` accepts the risk. `told` means that the command \
         continues and says what it could not read; `sent` means that it continues, because nothing \
         depends on the read.\n\n";
    let rows = table.values().flat_map(BTreeMap::keys).map(Read::words);
    let rows: BTreeSet<String> = rows.collect();
    let rows = Vec::from_iter(rows);
    tabled(text, "what cannot be read", &rows, &DEEDS, |row, deed| {
        let word = |namespaced| {
            let mut cells = table[&(deed, namespaced)].iter();
            let found = cells.find(|(read, _)| read.words() == rows[row]);
            match found.map(|(_, cell)| cell) {
                Some(Cell::Refused) => "refused",
                Some(Cell::Told) => "told",
                Some(Cell::Unneeded) => "sent",
                None => "",
            }
        };
        let mut words = [false, true].map(word).to_vec();
        words.dedup();
        words.retain(|word| !word.is_empty());
        words.join(" or ")
    })
}
