//! Records that are passed over.

use super::error::ErrorKind;
use super::source::Source;

/// How far behind a bad record the next good one is looked for, in bytes: first near, since a pipe may not have more yet.
const SEARCH_LENS: [usize; 3] = [64 * 1024, 1024 * 1024, 16 * 1024 * 1024];

/// Where the next good record begins behind a bad one, in bytes from the place where `source` is. `find` is given the bytes that follow,
/// and whether the stream ends with them.
pub(super) fn find_next(source: &mut Source, find: impl Fn(&[u8], bool) -> Option<usize>) -> Option<usize> {
    SEARCH_LENS.into_iter().find_map(|len| {
        let bytes = source.look_ahead(len);
        find(bytes, bytes.len() < len)
    })
}

/// Records that were passed over, and what is wrong with the first of them.
#[derive(Default)]
pub(super) struct Skipped {
    pub(super) count: u64,
    /// What is wrong, and where it begins.
    pub(super) first: Option<(ErrorKind, u64)>,
}

impl Skipped {
    /// Counts one that begins at `offset`.
    pub(super) fn add(&mut self, kind: ErrorKind, offset: u64) {
        if self.count == 0 {
            self.first = Some((kind, offset));
        }
        self.count += 1;
    }
}
