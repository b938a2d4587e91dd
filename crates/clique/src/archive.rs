//! Configurations inside archives, as Click's tools write them when they add files to a configuration.
//!
//! The format is that of ar(5): the line `!<arch>`, then for each member a header of 60 bytes and the contents, padded
//! to an even length. The member called `config` is the configuration.

/// What an archive starts with.
const MAGIC: &[u8] = b"!<arch>\n";
/// Bytes of a member's header.
const HEADER: usize = 60;

/// Whether a file is meant to be an archive: no configuration starts like this.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!")
}

/// What is wrong with an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    reason: Option<&'static str>,
    lacks_config: bool,
}

impl Broken {
    /// What Click says of an archive with this name, a line or two.
    pub(crate) fn message(self, name: &str) -> String {
        let missing = self.lacks_config.then(|| format!("{name}: archive has no 'config' section"));
        self.reason.map(str::to_owned).into_iter().chain(missing).collect::<Vec<_>>().join("\n")
    }
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// As it stands in the archive: name, dates, owners, mode, size.
    header: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

impl Member {
    /// A file with this name, of 15 letters at most, and this mode. It has no date and belongs to nobody, so that archives
    /// of the same files are the same.
    pub(crate) fn new(name: &str, mode: u32, data: Vec<u8>) -> Member {
        let header =
            format!("{:<16}{:<12}{:<6}{:<6}{mode:<8o}{:<10}`\n", format!("{name}/"), 0, 0, 0, data.len());
        Member { header: header.into_bytes(), data }
    }

    pub(crate) fn name(&self) -> &[u8] {
        let name = self.header[..16].trim_ascii_end();
        name.strip_suffix(b"/").unwrap_or(name)
    }
}

/// The archive of these files.
pub(crate) fn archive<'a>(members: impl IntoIterator<Item = &'a Member>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for member in members {
        bytes.extend_from_slice(&member.header);
        bytes.extend_from_slice(&member.data);
        bytes.extend((member.data.len() % 2 == 1).then_some(b'\n'));
    }
    bytes
}

/// The configuration in an archive, and what else is in it.
///
/// # Errors
/// What is wrong with the archive.
pub(crate) fn config(archive: &[u8]) -> Result<(Vec<u8>, Vec<Member>), Broken> {
    let mut members = Vec::new();
    let reason = read_members(archive, &mut members).err();
    let found = members.iter().position(|member| member.name() == b"config");
    match (reason, found) {
        (None, Some(at)) => Ok((members.remove(at).data, members)),
        _ => Err(Broken { reason, lacks_config: found.is_none() }),
    }
}

/// Adds the members of an archive, up to where it is broken.
fn read_members(archive: &[u8], members: &mut Vec<Member>) -> Result<(), &'static str> {
    const TRUNCATED: &str = "truncated archive";
    let mut rest = archive.strip_prefix(MAGIC).ok_or("not an archive")?;
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(HEADER).ok_or(TRUNCATED)?;
        // The fields: name 0..16, dates and owners, size 48..58, end mark.
        if !header.ends_with(b"`\n") {
            return Err("bad archive: missing header magic number");
        }
        let size = std::str::from_utf8(&header[48..58]).ok().and_then(|size| size.trim_end().parse().ok());
        let (contents, padded) =
            size.and_then(|size: usize| after.split_at_checked(size)).ok_or(TRUNCATED)?;
        members.push(Member { header: header.to_vec(), data: contents.to_vec() });
        let is_odd = contents.len() % 2 == 1;
        rest = if is_odd { padded.strip_prefix(b"\n").unwrap_or(padded) } else { padded };
    }
    Ok(())
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
            let archive = archive(&[("odd", "abc"), (name, "Idle;"), ("even", "ab")]);
            let (found, others) = config(&archive).unwrap();
            assert_eq!(found, b"Idle;", "{name}");
            let others: Vec<_> = others.iter().map(|other| (other.name(), &other.data[..])).collect();
            assert_eq!(others, [(&b"odd"[..], &b"abc"[..]), (b"even", b"ab")]);
        }
        let message = |bytes: &[u8]| config(bytes).unwrap_err().message("a");
        assert_eq!(message(&archive(&[("configs", "x")])), "a: archive has no 'config' section");
        assert_eq!(message(b"!x"), "not an archive\na: archive has no 'config' section");
        let whole = archive(&[("config", "Idle;"), ("more", "text")]);
        assert_eq!(message(&whole[..whole.len() - 1]), "truncated archive");
        assert_eq!(message(&whole[..30]), "truncated archive\na: archive has no 'config' section");
    }

    #[test]
    fn written_and_read() {
        let members = [("config", "Idle;"), ("fifteen letters", "")]
            .map(|(name, data)| Member::new(name, 0o644, data.as_bytes().to_vec()));
        let (found, others) = config(&super::archive(&members)).unwrap();
        assert_eq!((found, others), (members[0].data.clone(), vec![members[1].clone()]));
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
