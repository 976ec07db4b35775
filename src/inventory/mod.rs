//! Everything collected about one target, frozen, and the relations between the objects.

pub mod source;
