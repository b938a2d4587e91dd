//! Longest-prefix-match tables that change under readers.
