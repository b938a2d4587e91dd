//! The file in memory: who left it, and all that was left.
//!
//! First comes what every version reads, in order to go back: eight letters, the number of the form, the descriptors of the old program
//! and of the client's connection. Then come the lengths of a header in JSON and of the elements' bytes, both, and a checksum. The kernel seals
//! the file, so that nothing changes it; what is cut short or changed is noticed all the same.

use crate::reload::Entry;
use serde::{Deserialize, Serialize};
use std::os::fd::RawFd;
use std::path::PathBuf;

/// The form that this version writes, and the only one that it reads.
pub(crate) const FORM: u32 = 1;

const MAGIC: &[u8; 8] = b"CliqueUp";
/// Letters, form, two descriptors, two lengths.
const PREFIX: usize = 8 + 4 + 4 + 4 + 8 + 8;
const CHECKSUM: usize = 8;

/// What the keeper of configurations leaves. Texts of configurations are as their operator wrote them; elements' states have no keys.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Keepsake {
    /// The configuration that runs: its name, text and parameters.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) parameters: Vec<(String, String)>,
    /// Those that have run, unless they are in files, and the number of the one that runs.
    pub(crate) entries: Vec<Entry>,
    pub(crate) running: u64,
    /// If it waits to be confirmed: for how many milliseconds more, and the number of the one before.
    pub(crate) trial: Option<(u64, u64)>,
}

/// What stands before the elements' bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Header {
    /// The version of the program that wrote this.
    pub(crate) version: String,
    /// Where that program was started from.
    pub(crate) program: PathBuf,
    /// What it was called by, and its arguments.
    pub(crate) command: Vec<Vec<u8>>,
    /// When its workers stopped: nanoseconds of the monotonic clock.
    pub(crate) halted_ns: i64,
    /// The time of day as the router saw it then: it goes on from there, whatever the machine's clock was set to meanwhile.
    pub(crate) router_ns: i64,
    /// The key of hashes: with another one, flows would take other paths.
    pub(crate) common_seed: u64,
    pub(crate) keepsake: Keepsake,
    /// The socket that belongs to no element.
    pub(crate) listener: Option<RawFd>,
    pub(crate) instances: Vec<Instance>,
    /// What is lost, in sentences.
    pub(crate) lost: Vec<String>,
}

/// What an instance has left.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) worker: usize,
    /// Its bytes, which follow those of the instance before.
    pub(crate) len: usize,
    pub(crate) fds: Vec<RawFd>,
}

/// What every version can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The old program.
    pub(crate) old: RawFd,
    /// The client that waits for an answer, if there is one.
    pub(crate) client: Option<RawFd>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) header: Header,
    /// Of each instance.
    pub(crate) states: Vec<Vec<u8>>,
}

/// A sum over words, which costs a fraction of a nanosecond for each byte.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let add = |sum: u64, word: &[u8; 8]| {
        (sum ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    let sum = words.iter().fold(bytes.len() as u64, add);
    add(sum, &last)
}

/// The bytes of a file.
///
/// # Errors
/// That the header cannot be written.
pub(crate) fn encode(way: Way, header: &Header, states: &[impl AsRef<[u8]>]) -> Result<Vec<u8>, String> {
    let json = serde_json::to_vec(header).map_err(|error| error.to_string())?;
    let len: usize = states.iter().map(|state| state.as_ref().len()).sum();
    let mut bytes = Vec::with_capacity(PREFIX + json.len() + len + CHECKSUM);
    bytes.extend(MAGIC);
    bytes.extend(FORM.to_le_bytes());
    bytes.extend(way.old.to_le_bytes());
    bytes.extend(way.client.unwrap_or(-1).to_le_bytes());
    bytes.extend((json.len() as u64).to_le_bytes());
    bytes.extend((len as u64).to_le_bytes());
    bytes.extend(json);
    states.iter().for_each(|state| bytes.extend(state.as_ref()));
    bytes.extend(checksum(&bytes).to_le_bytes());
    Ok(bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// The way back; `None` if this is no such file.
pub(crate) fn way(bytes: &[u8]) -> Option<Way> {
    let numbers = bytes.strip_prefix(MAGIC)?;
    let old = RawFd::from_le_bytes(array(numbers, 4)?);
    let client = RawFd::from_le_bytes(array(numbers, 8)?);
    Some(Way { old, client: Some(client).filter(|&fd| fd >= 0) })
}

/// Reads a file.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn decode(bytes: &[u8]) -> Result<Image, String> {
    const SHORT: &str = "what was handed over is cut short";
    let form = bytes.strip_prefix(MAGIC).and_then(|rest| array(rest, 0)).map(u32::from_le_bytes);
    match form.ok_or("what was handed over is nothing that Clique has written")? {
        FORM => {}
        form => return Err(format!("what was handed over has form {form}; this version knows {FORM}")),
    }
    let length = |at: usize| usize::try_from(u64::from_le_bytes(array(bytes, at)?)).ok();
    let (json, len) = (length(20).ok_or(SHORT)?, length(28).ok_or(SHORT)?);
    let whole = PREFIX.checked_add(json).and_then(|sum| sum.checked_add(len)?.checked_add(CHECKSUM));
    if whole != Some(bytes.len()) {
        return Err(SHORT.to_owned());
    }
    let (rest, sum) = bytes.split_at(bytes.len() - CHECKSUM);
    if checksum(rest).to_le_bytes() != sum {
        return Err("what was handed over has changed on the way".to_owned());
    }
    let (json, mut body) = rest[PREFIX..].split_at(json);
    let header: Header = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let mut states = Vec::new();
    for instance in &header.instances {
        let (state, rest) = body.split_at_checked(instance.len).ok_or(SHORT)?;
        states.push(state.to_vec());
        body = rest;
    }
    if !body.is_empty() {
        return Err("what was handed over has more than it says".to_owned());
    }
    Ok(Image { header, states })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rng: &mut fastrand::Rng) -> (Way, Image) {
        let states: Vec<Vec<u8>> =
            (0..rng.usize(..5)).map(|_| (0..rng.usize(..40)).map(|_| rng.u8(..)).collect()).collect();
        let instance = |(at, state): (usize, &Vec<u8>)| Instance {
            name: format!("q{at}"),
            class: "Queue".to_owned(),
            worker: at,
            len: state.len(),
            fds: vec![7; at % 3],
        };
        let header = Header {
            version: "0.1.0".to_owned(),
            halted_ns: rng.i64(..),
            keepsake: Keepsake { text: "Idle;\n".repeat(rng.usize(..5)), ..Keepsake::default() },
            listener: Some(5).filter(|_| rng.bool()),
            instances: states.iter().enumerate().map(instance).collect(),
            ..Header::default()
        };
        let client = Some(rng.i32(3..99)).filter(|_| rng.bool());
        (Way { old: rng.i32(3..99), client }, Image { header, states })
    }

    /// What was written is read. What is cut short, or changed in any bit, is not, but the way back is found as long as it is whole.
    #[test]
    fn images_are_read_whole_or_not_at_all() {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..50 {
            let (to, image) = sample(&mut rng);
            let bytes = encode(to, &image.header, &image.states).unwrap();
            assert_eq!(decode(&bytes), Ok(image));
            assert_eq!(way(&bytes), Some(to));
            for _ in 0..50 {
                let cut = &bytes[..rng.usize(..bytes.len())];
                assert!(decode(cut).is_err());
                assert_eq!(way(cut), Some(to).filter(|_| cut.len() >= 20), "{}", cut.len());
                let mut changed = bytes.clone();
                let at = rng.usize(..bytes.len());
                changed[at] ^= 1 << rng.u32(..8);
                assert!(decode(&changed).is_err(), "byte {at}");
                assert!(way(&changed).is_some() || at < 8);
            }
            let longer = [&bytes[..], &[0]].concat();
            assert!(decode(&longer).is_err());
        }
    }

    /// A newer form is refused with a word, and the way back is found.
    #[test]
    fn a_newer_form_is_refused() {
        let (to, image) = sample(&mut fastrand::Rng::with_seed(4));
        let mut bytes = encode(to, &image.header, &image.states).unwrap();
        bytes[8] = 2;
        assert_eq!(decode(&bytes).unwrap_err(), "what was handed over has form 2; this version knows 1");
        assert_eq!(way(&bytes), Some(to));
    }
}
