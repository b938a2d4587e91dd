//! Byte order of a capture: that of the machine which wrote it.

/// Byte order of the numbers in a file or section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(super) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        }
    }

    pub(super) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The 16-bit number at `at`, 0 if `bytes` ends before it does.
    pub(super) fn u16_at(self, bytes: &[u8], at: usize) -> u16 {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| self.u16(*chunk))
    }

    /// The 32-bit number at `at`, 0 if `bytes` ends before it does.
    pub(super) fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| self.u32(*chunk))
    }

    /// The signed 64-bit number at `at`, 0 if `bytes` ends before it does.
    pub(super) fn i64_at(self, bytes: &[u8], at: usize) -> i64 {
        let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()).copied().unwrap_or_default();
        match self {
            ByteOrder::Little => i64::from_le_bytes(chunk),
            ByteOrder::Big => i64::from_be_bytes(chunk),
        }
    }
}
