//! What a client may send at once.

/// Bytes of a line of the protocol, at most.
pub(crate) const LINE_MAX: usize = 1 << 16;

/// Bytes of data that may follow a line, at most: a configuration is the largest thing that is sent.
pub(crate) const DATA_MAX: usize = 1 << 26;
