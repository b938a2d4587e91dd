//! Versions of the format.

/// The version of the format that is written: 1.3. Up to 1.0 fragment offsets counted in units of eight bytes.
pub(super) const MINOR_VERSION: u32 = 3;
