//! What keeps `clique routes` from its end.

use crate::status::Status;

/// How the program ends, and why.
pub(super) struct Trouble(pub(super) Status, pub(super) String);
