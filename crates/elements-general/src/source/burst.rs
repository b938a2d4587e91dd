//! How many packets a source makes before others have their turn.

/// Packets that a scheduling makes at most. A larger burst would lie in memory as a whole before its first packet is treated, and
/// hold up everything else on the worker; its rest comes with the next schedulings.
pub(super) const AT_ONCE: usize = 4_096;
