//! Captures that routers write of all that arrives, and what is in them.

use std::collections::BTreeMap;
use std::path::Path;

/// What a router writes: nothing, a file of either format, or one on a disk that is full.
pub const KINDS: [&str; 4] = ["none", "pcap", "pcapng", "full"];

/// A folder for the captures of a router with interfaces `eth0`, `eth1` and so on.
///
/// # Errors
/// What the system says.
pub fn folder(interfaces: usize) -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    for number in 0..interfaces {
        std::os::unix::fs::symlink("/dev/full", folder.path().join(format!("eth{number}.full")))?;
    }
    Ok(folder)
}

/// A configuration in which all that comes from interfaces is captured. Where a source has no arrow behind it, it stays as it is.
pub fn tap(config: &str, kind: &str, folder: &Path) -> String {
    if kind == KINDS[0] {
        return config.to_owned();
    }
    let folder = folder.display();
    let mut pieces = config.split("FromMemory(");
    let mut tapped = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        tapped += "FromMemory(";
        let Some((device, rest)) =
            piece.split_once(')').filter(|(_, rest)| rest.trim_start().starts_with("->"))
        else {
            tapped += piece;
            continue;
        };
        // The name of a variable is no part of an element's name.
        let name = device.trim_start_matches('$');
        let format = if kind == "pcapng" { ", PCAPNG true" } else { "" };
        tapped += &format!(
            "{device}) -> capture_{kind}_{name} :: ToDump({folder}/{device}.{kind}, 0{format}) {rest}"
        );
    }
    tapped
}

/// What an element wrote.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Its name.
    pub element: String,
    /// The file.
    pub file: String,
    /// Packets that it says are in the file.
    pub count: u64,
    /// Packets that it says are not.
    pub missed: u64,
}

/// What is wrong with a capture that is closed: of `arrived` packets, which were among these frames.
pub fn check(figures: &Figures, arrived: u64, frames: &[Vec<u8>]) -> Vec<String> {
    let Figures { element, file, count, missed } = figures;
    let mut wrong = Vec::new();
    if count + missed != arrived {
        wrong.push(format!("{element} wrote {count} packets and missed {missed}, and {arrived} arrived"));
    }
    // A router that ends before its first turn leaves the file as the one before left it.
    let never_began = count + missed + arrived == 0;
    if file.ends_with(".full") || never_began {
        return wrong;
    }
    if *missed > 0 {
        wrong.push(format!("{element} missed {missed} packets"));
    }
    let records =
        match std::fs::read(file).map_err(|error| error.to_string()).and_then(|bytes| records(&bytes)) {
            Ok(records) => records,
            Err(error) => return [wrong, vec![format!("{file}: {error}")]].concat(),
        };
    if records.len() as u64 != *count {
        wrong.push(format!("{element} wrote {count} packets, and {} are in the file", records.len()));
    }
    let mut known = BTreeMap::<&[u8], usize>::new();
    frames.iter().for_each(|frame| *known.entry(frame).or_default() += 1);
    let strange = |record: &&Vec<u8>| match known.get_mut(record.as_slice()) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    };
    let strange = records.iter().filter(strange).count();
    if strange > 0 {
        wrong.push(format!("{file} has {strange} packets that did not arrive"));
    }
    wrong
}

/// The packets in a file, which is read here as its format says and not as the product reads it.
fn records(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    match word(bytes, 0)? {
        0xa1b2_c3d4 => pcap(bytes),
        0x0a0d_0d0a => pcapng(bytes),
        magic => Err(format!("no capture begins with {magic:08x}")),
    }
}

fn pcap(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let (mut at, mut records) = (24, Vec::new());
    while at < bytes.len() {
        let len = word(bytes, at + 8)? as usize;
        records.push(part(bytes, at + 16, len)?.to_vec());
        at += 16 + len;
    }
    Ok(records)
}

fn pcapng(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let (mut at, mut records) = (0, Vec::new());
    while at < bytes.len() {
        let (kind, len) = (word(bytes, at)?, word(bytes, at + 4)? as usize);
        if len < 12 || word(bytes, at + len - 4)? as usize != len {
            return Err(format!("a block at {at} with two lengths"));
        }
        if kind == 6 {
            let len = word(bytes, at + 20)? as usize;
            records.push(part(bytes, at + 28, len)?.to_vec());
        }
        at += len;
    }
    Ok(records)
}

fn part(bytes: &[u8], at: usize, len: usize) -> Result<&[u8], String> {
    bytes.get(at..at + len).ok_or_else(|| format!("it ends in the middle, after {} bytes", bytes.len()))
}

fn word(bytes: &[u8], at: usize) -> Result<u32, String> {
    part(bytes, at, 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_get_a_tap() {
        let tapped = |config: &str| tap(config, "pcapng", Path::new("/t"));
        assert_eq!(
            tapped("FromMemory($device) -> a; f :: FromMemory(eth1); f -> b"),
            "FromMemory($device) -> capture_pcapng_device :: ToDump(/t/$device.pcapng, 0, PCAPNG true)  -> a; \
             f :: FromMemory(eth1); f -> b"
        );
        assert_eq!(tap("FromMemory(a) -> b", "none", Path::new("/t")), "FromMemory(a) -> b");
    }

    #[test]
    fn what_is_missing_or_strange_is_said() {
        let frames = [vec![1; 60], vec![2; 60]];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a").to_str().unwrap().to_owned();
        let record =
            |byte: u8| [&[0; 8][..], &60_u32.to_le_bytes(), &60_u32.to_le_bytes(), &[byte; 60]].concat();
        let head = [&0xa1b2_c3d4_u32.to_le_bytes()[..], &[0; 20]].concat();
        std::fs::write(&file, [head, record(1), record(3)].concat()).unwrap();
        let figures = |count, missed| Figures { element: "d".into(), file: file.clone(), count, missed };
        assert_eq!(check(&figures(2, 0), 2, &frames), [format!("{file} has 1 packets that did not arrive")]);
        assert_eq!(check(&figures(3, 0), 2, &frames).len(), 3);
        assert_eq!(check(&figures(1, 1), 2, &frames).len(), 3);
    }
}
