//! What is known of an object: seen, known not to exist, or not known.

use std::sync::Arc;

/// One object that was looked for.
#[derive(Debug, Clone)]
pub enum Sight<T> {
    Present(Arc<T>),
    /// It does not exist.
    Absent,
    /// Nobody can say, and why.
    Unknown(String),
}

impl<T> Sight<T> {
    /// What was found, or why nobody can say.
    pub(super) fn new(found: Option<&Arc<T>>, gap: Option<String>) -> Self {
        match found {
            Some(object) => Self::Present(Arc::clone(object)),
            None => gap.map_or(Self::Absent, Self::Unknown),
        }
    }

    /// The object, when it was seen.
    pub fn present(&self) -> Option<&T> {
        match self {
            Self::Present(object) => Some(object),
            Self::Absent | Self::Unknown(_) => None,
        }
    }

    /// Whether it is known not to exist. An unknown object is not absent.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// The objects of a kind that were looked for.
#[derive(Debug, Clone)]
pub struct Listing<T> {
    /// Those that were seen, sorted by namespace and name.
    pub items: Vec<Arc<T>>,
    /// Why there may be more; `None` when these are all.
    pub gap: Option<String>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            gap: None,
        }
    }
}

impl<T> Listing<T> {
    /// The objects.
    pub fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        self.items.iter().map(AsRef::as_ref)
    }

    /// Adds the objects of another kind.
    pub(super) fn add(&mut self, other: Self) {
        self.items.extend(other.items);
        self.gap = self.gap.take().or(other.gap);
    }

    /// Whether the listing is complete: what is not in it does not exist.
    pub const fn is_complete(&self) -> bool {
        self.gap.is_none()
    }

    /// Whether it is known that there is none.
    pub const fn is_known_empty(&self) -> bool {
        self.items.is_empty() && self.gap.is_none()
    }
}
