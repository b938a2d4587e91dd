//! What a client may send at once, and what it is sent.

/// Bytes of a line of the protocol, at most.
pub(crate) const LINE_MAX: usize = 1 << 16;

/// Bytes of data that may follow a line, at most: a configuration is the largest thing that is sent.
pub(crate) const DATA_MAX: usize = 1 << 26;

/// Bytes of an answer, at most: a table of millions of routes or flows has some hundred megabytes.
pub(crate) const ANSWER_MAX: u64 = 1 << 36;
