//! What the clusters of a placement have.

use maud::{Markup, html};

use super::words;
use crate::diagnose::status::PlacedCluster;
use crate::render::status::alike;
use crate::words::count;

/// The clusters, those with the same in one group.
pub(super) fn section(clusters: &[PlacedCluster]) -> Markup {
    let groups = alike(clusters);
    html! {
        section aria-labelledby="clusters" {
            h2 #clusters { "Clusters" }
            @if groups.is_empty() { p.note { "No cluster is selected." } }
            ul.parts {
                @for (what, members) in &groups {
                    li { strong { (count(members.len(), "cluster")) } ": " (what) (words::names(members)) }
                }
            }
        }
    }
}
