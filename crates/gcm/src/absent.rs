//! Other processors have none of these instructions.

/// A key, which is never there.
pub enum Key {}

/// What no key is ever used with.
#[derive(Clone, Copy, Debug)]
pub struct Short;

impl Short {
    /// Nothing.
    #[must_use]
    pub fn new(_: u128, _: usize) -> Short {
        Short
    }
}

impl Key {
    /// None.
    pub fn new(_: &[u8]) -> Option<Key> {
        None
    }

    /// Never called.
    #[must_use]
    pub fn seal(&self, _: &[u8; 12], _: &[u8], _: &mut [u8]) -> [u8; 16] {
        match *self {}
    }

    /// Never called.
    #[must_use]
    pub fn open(&self, _: &[u8; 12], _: &[u8], _: &mut [u8], _: &[u8; 16]) -> bool {
        match *self {}
    }

    /// Never called.
    #[must_use]
    pub fn seal_short(&self, _: &[u8; 12], _: Short, _: &mut [u8]) -> [u8; 16] {
        match *self {}
    }

    /// Never called.
    #[must_use]
    pub fn open_short(&self, _: &[u8; 12], _: Short, _: &mut [u8], _: &[u8; 16]) -> bool {
        match *self {}
    }

    /// Never called.
    #[must_use]
    pub fn part(&self, _: usize) -> &[u8] {
        match *self {}
    }
}
