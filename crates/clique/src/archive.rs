//! Configurations inside archives, as Click's tools write them when they add files to a configuration.
//!
//! The format is that of ar(5): the line `!<arch>`, then for each member a header of 60 bytes and the contents, padded
//! to an even length. The member called `config` is the configuration.

/// What an archive starts with.
const MAGIC: &[u8] = b"!<arch>\n";
/// Bytes of a member's header.
const HEADER: usize = 60;

/// Whether a file is an archive.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The configuration in an archive.
///
/// # Errors
/// What is wrong with the archive.
pub(crate) fn config(archive: &[u8]) -> Result<&[u8], &'static str> {
    let mut rest = archive.strip_prefix(MAGIC).ok_or("not an archive")?;
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(HEADER).ok_or("archive is cut off in a header")?;
        // The fields: name 0..16, dates and owners, size 48..58, end mark.
        if !header.ends_with(b"`\n") {
            return Err("archive has a bad header");
        }
        let size = std::str::from_utf8(&header[48..58]).ok().and_then(|size| size.trim_end().parse().ok());
        let size: usize = size.ok_or("archive has a member without a size")?;
        let (contents, padded) = after.split_at_checked(size).ok_or("archive is cut off in a member")?;
        let name = header[..16].trim_ascii_end();
        if name.strip_suffix(b"/").unwrap_or(name) == b"config" {
            return Ok(contents);
        }
        rest = if size % 2 == 1 { padded.strip_prefix(b"\n").unwrap_or(padded) } else { padded };
    }
    Err("archive has no 'config' section")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(members: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (name, contents) in members {
            let size = contents.len();
            bytes
                .extend(format!("{name:<16}0           0     0     644     {size:<10}`\n{contents}").bytes());
            if size % 2 == 1 {
                bytes.push(b'\n');
            }
        }
        bytes
    }

    #[test]
    fn config_among_others() {
        for name in ["config", "config/"] {
            let archive = archive(&[("odd", "abc"), ("even", "ab"), (name, "Idle;")]);
            assert_eq!(config(&archive), Ok(&b"Idle;"[..]), "{name}");
        }
        assert_eq!(config(&archive(&[("configs", "x")])), Err("archive has no 'config' section"));
    }

    /// However an archive is cut off or spoilt, there is an error or the right text.
    #[test]
    fn damaged_archives() {
        let whole = archive(&[("odd", "abc"), ("config", "Idle -> Discard;")]);
        for end in 0..whole.len() {
            assert!(config(&whole[..end]).is_err(), "{end}");
        }
        for at in 0..whole.len() {
            for byte in [0, b'9', 0xff] {
                let mut spoilt = whole.clone();
                spoilt[at] = byte;
                let _ = config(&spoilt);
            }
        }
    }
}
