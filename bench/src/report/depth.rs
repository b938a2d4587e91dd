//! How much a report measures.

use serde::{Deserialize, Serialize};

/// How much is measured.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Depth {
    Tiny,
    Quick,
    Full,
}
