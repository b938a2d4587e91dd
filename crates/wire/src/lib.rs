//! Protocol headers as typed views over bytes, and checksums.
