//! Large fleets, written straight to the hub.
