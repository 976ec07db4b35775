//! How much a command asks of a hub.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::words::count;

/// The requests to a hub and the bytes of its answers, without compression; who has a copy counts
/// on.
#[derive(Debug, Clone, Default)]
pub struct RequestTraffic(Arc<TrafficCounts>);

#[derive(Debug, Default)]
struct TrafficCounts {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl RequestTraffic {
    pub(in crate::hub) fn asked(&self) {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::hub) fn read(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl fmt::Display for RequestTraffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests = usize::try_from(self.0.requests.load(Ordering::Relaxed));
        let requests = count(requests.unwrap_or(usize::MAX), "request");
        let kilobytes = self.0.bytes.load(Ordering::Relaxed).div_ceil(1000);
        write!(
            f,
            "{requests}, {}.{} MB",
            kilobytes / 1000,
            kilobytes % 1000 / 100
        )
    }
}

#[cfg(test)]
mod tests {
    use super::RequestTraffic;

    #[test]
    fn copies_count_together() {
        let traffic = RequestTraffic::default();
        let copy = traffic.clone();
        copy.asked();
        copy.read(1_234_567);
        assert_eq!(traffic.to_string(), "1 request, 1.2 MB");
        traffic.asked();
        traffic.read(90_000_000);
        assert_eq!(copy.to_string(), "2 requests, 91.2 MB");
    }
}
