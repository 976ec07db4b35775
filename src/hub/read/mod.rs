//! What is read: lists page by page, objects by name, what is served, and rounds of queries.

pub(in crate::hub) mod batch;
pub(in crate::hub) mod found;
pub(in crate::hub) mod known;
pub(in crate::hub) mod list_text;
pub(in crate::hub) mod objects;
pub(in crate::hub) mod pages;
pub(in crate::hub) mod queries;
pub(in crate::hub) mod remembered;
pub(in crate::hub) mod rounds;
pub(in crate::hub) mod served;
pub(in crate::hub) mod versions;
