//! Packet input and output: captures, in-memory interfaces.
