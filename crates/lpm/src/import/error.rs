//! Why a file could not be read.

use std::fmt;
use std::io;

use super::fault::Fault;

/// Why a file could not be read.
#[derive(Debug)]
pub enum ImportError {
    /// The file could not be read, or its compressed form is damaged or truncated.
    Io(io::Error),
    /// Nothing in the file could be read, or something could not and must not be left out: this is the first of it.
    Unreadable(Fault),
    /// There is more than allowed.
    TooLarge {
        /// The limit in bytes, after decompression.
        limit: u64,
    },
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "file ends too early (truncated?): {error}")
            }
            Self::Io(error) => write!(f, "{error}"),
            Self::Unreadable(fault) => write!(f, "{fault}"),
            Self::TooLarge { limit } => write!(f, "more than {limit} bytes after decompression"),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Unreadable(fault) => Some(fault),
            Self::TooLarge { .. } => None,
        }
    }
}

impl From<io::Error> for ImportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
