//! A plan for people: the stages that the controller would compute, and what speaks against them.

use std::fmt::Write as _;

use super::escape;
use super::text::Look;
use crate::plan::Plan;

/// Writes a plan.
pub fn plan(plan: &Plan, look: &Look) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}  {}",
        plan.outcome.as_str(),
        look.paint.bold(&escape::line(&plan.placement.to_string()))
    );
    out
}
