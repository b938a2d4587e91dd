//! Configurations inside archives, as Click's tools write them when they add files to a configuration.
//!
//! The format is that of ar(5): the line `!<arch>`, then for each member a header of 60 bytes and the contents, padded
//! to an even length. The member called `config` is the configuration. A long name stands in front of the contents, after a header
//! with the name `#1/LENGTH`, as in BSD and in what Click's tools write, or in a member called `//`, as in GNU's archives, which stays
//! where it is.

/// What an archive starts with.
const MAGIC: &[u8] = b"!<arch>\n";
/// Bytes of a member's header.
const HEADER: usize = 60;

/// Whether a file is meant to be an archive: no configuration starts like this.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!")
}

/// What is wrong with an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    reason: Option<String>,
    lacks_config: bool,
}

impl Broken {
    /// What Click says of an archive with this name, a line or two.
    pub fn message(self, name: &str) -> String {
        let missing = self.lacks_config.then(|| format!("{name}: archive has no 'config' section"));
        self.reason.into_iter().chain(missing).collect::<Vec<_>>().join("\n")
    }
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// As it stands in the archive: name, dates, owners, mode, size.
    header: Vec<u8>,
    /// The name, if it stands in front of the contents.
    long_name: Vec<u8>,
    /// The contents.
    pub data: Vec<u8>,
}

impl Member {
    /// A file with this name, of 15 letters at most, and this mode. It has no date and no owner, so that archives
    /// of the same files are the same.
    pub fn new(name: &str, mode: u32, data: Vec<u8>) -> Member {
        let header =
            format!("{:<16}{:<12}{:<6}{:<6}{mode:<8o}{:<10}`\n", format!("{name}/"), 0, 0, 0, data.len());
        Member { header: header.into_bytes(), long_name: Vec::new(), data }
    }

    /// A member with this header, whose contents a long name may begin.
    fn read(header: &[u8], contents: &[u8]) -> Result<Member, String> {
        let length = header[..16].strip_prefix(b"#1/").and_then(number);
        let (long_name, data) =
            contents.split_at_checked(length.unwrap_or(0)).ok_or("bad long name in archive")?;
        Ok(Member { header: header.to_vec(), long_name: long_name.to_vec(), data: data.to_vec() })
    }

    /// Its name.
    pub fn name(&self) -> &[u8] {
        if !self.long_name.is_empty() {
            return &self.long_name;
        }
        let name = self.header[..16].trim_ascii_end();
        name.strip_suffix(b"/").unwrap_or(name)
    }
}

/// The archive of these files.
pub fn archive<'a>(members: impl IntoIterator<Item = &'a Member>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for member in members {
        bytes.extend_from_slice(&member.header);
        bytes.extend_from_slice(&member.long_name);
        bytes.extend_from_slice(&member.data);
        bytes.extend(((member.long_name.len() + member.data.len()) % 2 == 1).then_some(b'\n'));
    }
    bytes
}

/// The configuration in an archive, and what else is in it.
///
/// # Errors
/// What is wrong with the archive.
pub fn config(archive: &[u8]) -> Result<(Vec<u8>, Vec<Member>), Broken> {
    let mut members = Vec::new();
    let reason = read_members(archive, &mut members).err();
    let found = members.iter().position(|member| member.name() == b"config");
    match (reason, found) {
        (None, Some(at)) => Ok((members.remove(at).data, members)),
        (reason, found) => Err(Broken { reason, lacks_config: found.is_none() }),
    }
}

/// A number in a field of a header.
fn number(field: &[u8]) -> Option<usize> {
    std::str::from_utf8(field).ok()?.trim_end().parse().ok()
}

/// Adds the members of an archive, up to where it is broken.
fn read_members(archive: &[u8], members: &mut Vec<Member>) -> Result<(), String> {
    const TRUNCATED: &str = "truncated archive";
    let mut rest = archive.strip_prefix(MAGIC).filter(|rest| !rest.is_empty()).ok_or("not an archive")?;
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(HEADER).ok_or(TRUNCATED)?;
        // The fields: name 0..16, dates and owners, size 48..58, end mark.
        if !header.ends_with(b"`\n") {
            return Err("bad archive: missing header magic number".to_owned());
        }
        let size = number(&header[48..58]).ok_or(TRUNCATED)?;
        let short = || format!("{TRUNCATED}, {} bytes short", size - after.len());
        let (contents, padded) = after.split_at_checked(size).ok_or_else(short)?;
        members.push(Member::read(header, contents)?);
        let is_odd = size % 2 == 1;
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
        assert_eq!(message(&whole[..whole.len() - 1]), "truncated archive, 1 bytes short");
        assert_eq!(message(MAGIC), "not an archive\na: archive has no 'config' section");
        let named = archive(&[("#1/9", "name")]);
        assert_eq!(message(&named), "bad long name in archive\na: archive has no 'config' section");
        assert_eq!(message(&whole[..30]), "truncated archive\na: archive has no 'config' section");
    }

    /// Names in front of the contents, which stay there.
    #[test]
    fn long_names_stand_before_the_contents() {
        let text = archive(&[("#1/19", "fastclassifier_infoabc"), ("#1/6", "configIdle;")]);
        let (found, others) = config(&text).unwrap();
        assert_eq!(found, b"Idle;");
        assert_eq!((others[0].name(), &others[0].data[..]), (&b"fastclassifier_info"[..], &b"abc"[..]));
        assert_eq!(super::archive(&others), archive(&[("#1/19", "fastclassifier_infoabc")]));
    }

    #[test]
    fn written_and_read() {
        let members = [("config", "Idle;"), ("fifteen letters", "")]
            .map(|(name, data)| Member::new(name, 0o644, data.as_bytes().to_vec()));
        let (found, others) = config(&super::archive(&members)).unwrap();
        assert_eq!((found, others), (members[0].data.clone(), vec![members[1].clone()]));
    }

    #[test]
    fn an_archive_that_is_cut_off_is_an_error_and_a_spoilt_one_no_panic() {
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
