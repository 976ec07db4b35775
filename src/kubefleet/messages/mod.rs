//! What KubeFleet's controllers write in condition messages, read structurally.
