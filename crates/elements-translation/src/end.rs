//! Why flows have gone from the tables that rewriters and ConnTrack have of them.

/// Why flows have gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum End {
    /// No packet came for too long.
    Expired,
    /// They gave way to new ones, in a full table.
    Evicted,
    /// Others have the same addresses and ports.
    Replaced,
    /// A handler said so.
    Killed,
}

impl End {
    /// All reasons, in the order of their numbers.
    pub(crate) const ALL: [End; 4] = [End::Expired, End::Evicted, End::Replaced, End::Killed];

    /// What listeners hear, and counters are called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            End::Expired => "expired",
            End::Evicted => "evicted",
            End::Replaced => "replaced",
            End::Killed => "killed",
        }
    }
}
