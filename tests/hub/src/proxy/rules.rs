//! What goes wrong, and for which requests.

use std::time::Duration;

use http::Method;

/// Something that goes wrong between a client and its API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The server goes away: this and every other connection is reset, and none is accepted until
    /// [`super::FaultProxy::clear`].
    Leave,
    /// What answers a connection does not speak TLS. Counts connections, whatever they ask for.
    TlsGarbage,
    /// The connection is reset, and the server never hears of the request.
    ResetBefore,
    /// The server has done what was asked for; the connection is reset instead of an answer.
    ResetAfter,
    /// 401 with a `Status`.
    Unauthorized,
    /// 403 with a `Status`, in the words of the server's RBAC.
    Forbidden,
    /// 404 as for a group, version or kind that is not served: no `Status`.
    NotServed,
    /// 404 with the `Status` of an object that does not exist.
    Missing,
    /// 409 with the `Status` of an object that was changed in between, or that exists already.
    Conflict,
    /// 422 with the `Status` of an object that is not valid.
    Invalid,
    /// 410 with the `Status` of a list or a watch that is too old.
    Expired,
    /// 429; with the seconds to wait, if any.
    TooMany(Option<u64>),
    /// 500 with a `Status`.
    Internal,
    /// 503 without a `Status`; with the seconds to wait, if any.
    Unavailable(Option<u64>),
    /// The page of a proxy in between, with this status.
    Page(u16),
    /// 200 and something that is no JSON.
    NoJson,
    /// 200 and the `Status` of a failure.
    OtherKind,
    /// The server has done what was asked for, and this is the answer: 200, and text that need not
    /// be JSON.
    Instead(String),
    /// The answer's head and its first bytes; then the connection is closed.
    Cut {
        /// How many bytes arrive.
        bytes: usize,
    },
    /// No answer, and the connection stays open.
    Hang,
    /// The answer comes late.
    Delay(Duration),
    /// The server hears of the request when [`super::FaultProxy::release`] is called, also when the
    /// client has gone by then.
    Hold,
    /// The server has acted, and the client hears of it when [`super::FaultProxy::release`] is
    /// called.
    HoldAnswer,
    /// A list is read in pages of this size, whatever the client asks for: the server's own pages,
    /// with its own tokens, from a handful of objects.
    SmallPages(usize),
    /// The groups of APIs are listed by name and the resources of each one by one, whatever the
    /// client would rather have: the server's own lists, as all had them before Kubernetes 1.27.
    PlainDiscovery,
    /// A watch is ended by the server after so many events, as its time limit does.
    WatchEnds {
        /// How many events arrive.
        events: usize,
    },
    /// A watch breaks off after so many events.
    WatchCut {
        /// How many events arrive.
        events: usize,
    },
    /// A watch brings nothing any more after so many events, and stays open.
    WatchSilent {
        /// How many events arrive.
        events: usize,
    },
}

/// For which requests a fault happens.
#[derive(Debug, Clone)]
pub struct Rule {
    method: Option<Method>,
    part: String,
    from: usize,
    times: usize,
    fault: Fault,
    matched: usize,
}

impl Rule {
    /// A fault for every request whose path and query contain `part`.
    pub fn new(part: impl Into<String>, fault: Fault) -> Self {
        Self {
            method: None,
            part: part.into(),
            from: 1,
            times: usize::MAX,
            fault,
            matched: 0,
        }
    }

    /// Only for this method.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// Only from the n-th request on that matches; the first is 1.
    #[must_use]
    pub const fn from(mut self, nth: usize) -> Self {
        self.from = nth;
        self
    }

    /// Only so many times.
    #[must_use]
    pub const fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    fn counts(&mut self) -> bool {
        self.matched += 1;
        self.matched >= self.from && self.matched - self.from < self.times
    }
}

/// The fault of the first rule that holds for a request. Every rule that matches counts it.
pub(super) fn for_request(rules: &mut [Rule], method: &Method, target: &str) -> Option<Fault> {
    let mut fault = None;
    for rule in rules {
        let matches = rule.fault != Fault::TlsGarbage
            && rule.method.as_ref().is_none_or(|wanted| wanted == method)
            && target.contains(&rule.part);
        if matches && rule.counts() && fault.is_none() {
            fault = Some(rule.fault.clone());
        }
    }
    fault
}

/// Whether a new connection gets garbage.
pub(super) fn for_connection(rules: &mut [Rule]) -> bool {
    let rules = rules.iter_mut();
    let mut garbage = rules.filter(|rule| rule.fault == Fault::TlsGarbage);
    garbage.any(Rule::counts)
}

#[cfg(test)]
mod tests {
    use super::{Fault, Rule, for_connection, for_request};
    use http::Method;

    #[test]
    fn a_rule_holds_from_the_nth_request_and_so_many_times() {
        let mut rules = [
            Rule::new("/runs", Fault::Hang)
                .method(Method::GET)
                .from(2)
                .times(2),
            Rule::new("/runs?", Fault::Internal),
            Rule::new("", Fault::TlsGarbage),
        ];
        let mut ask = |method: Method, target: &str| for_request(&mut rules, &method, target);
        assert_eq!(ask(Method::GET, "/runs"), None);
        assert_eq!(ask(Method::POST, "/runs"), None);
        assert_eq!(ask(Method::GET, "/runs?limit=1"), Some(Fault::Hang));
        assert_eq!(ask(Method::GET, "/runs/a"), Some(Fault::Hang));
        assert_eq!(ask(Method::GET, "/runs/a"), None);
        assert_eq!(ask(Method::GET, "/runs?limit=1"), Some(Fault::Internal));
        assert!(for_connection(&mut rules));
    }
}
