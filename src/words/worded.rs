//! Enums whose variants have a word for each, in documents as for people.

/// Declares an enum with the words of its variants: what serde writes, and what `as_str` gives.
macro_rules! worded {
    ($(#[$doc:meta])* pub enum $name:ident { $( $(#[$of:meta])* $variant:ident = $word:literal, )* }) => {
        $(#[$doc])*
        pub enum $name { $( $(#[$of])* #[serde(rename = $word)] $variant, )* }

        impl $name {
            /// The word in documents.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
    };
}
pub(crate) use worded;
