//! Manuals of elements: the doc blocks at the beginning of their files.

/// Bytes of the lines at the beginning of a source text that are inner documentation.
pub const fn manual_len(source: &str) -> usize {
    let bytes = source.as_bytes();
    let mut end = 0;
    while end + 2 < bytes.len() && bytes[end] == b'/' && bytes[end + 1] == b'/' && bytes[end + 2] == b'!' {
        while end < bytes.len() && bytes[end] != b'\n' {
            end += 1;
        }
        if end < bytes.len() {
            end += 1;
        }
    }
    end
}

/// The first `N` bytes of a source text.
///
/// # Panics
/// It is shorter.
pub const fn manual_bytes<const N: usize>(source: &str) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(source.as_bytes().split_at(N).0);
    bytes
}

/// The text of a manual.
///
/// # Panics
/// The bytes are no text, as those of [`manual_bytes`] are.
pub const fn manual_text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("no text"),
    }
}

/// The manual of the element in a file, for [`Class::doc`](crate::Class::doc): the file's leading doc block. The rest of the file,
/// code and tests, does not get into the program.
#[macro_export]
macro_rules! manual {
    ($file:literal) => {{
        const SOURCE: &str = include_str!($file);
        const LEN: usize = $crate::manual::manual_len(SOURCE);
        const BYTES: &[u8; LEN] = &$crate::manual::manual_bytes(SOURCE);
        $crate::manual::manual_text(BYTES)
    }};
}

#[cfg(test)]
mod tests {
    use super::manual_len;

    #[test]
    fn a_manual_ends_where_the_code_begins() {
        assert_eq!(manual_len("//! One.\n//!\n//! Two.\n\nuse x;\n//! three\n"), 22);
        assert_eq!(manual_len("//! é"), 6);
        assert_eq!(manual_len("use x;\n"), 0);
        assert_eq!(manual_len(""), 0);
        assert_eq!(
            crate::manual!("manual.rs"),
            "//! Manuals of elements: the doc blocks at the beginning of their files.\n"
        );
    }
}
