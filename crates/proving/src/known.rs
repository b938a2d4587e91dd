//! Faults of the product that are known and not mended yet. A story that shows one is red on purpose: it is told here, never silently.

/// A fault that stories show.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The story's file in `stories/`, without its ending.
    pub story: &'static str,
    /// What a fault's text contains when it is this one.
    pub says: &'static str,
    /// Why it is so.
    pub reason: &'static str,
}

/// Those that are known.
pub const KNOWN: &[Known] = &[];

/// The known fault that a text is about.
pub fn find(what: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| what.contains(known.says))
}
