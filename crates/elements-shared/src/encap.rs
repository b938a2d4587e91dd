//! Click's names for link types.

use device::capture::{LinkType, Reader};
use packet::Packet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use wire::{ipv4, ipv6};

/// Names and the numbers that stand for them in files; where a number has several names the first is printed.
const NAMES: &[(&str, u32)] = &[
    ("NULL", 0),
    ("IP", 101),
    ("ETHER", 1),
    ("FDDI", 10),
    ("ATM", 100),
    ("RFC1483", 100),
    ("ATM_RFC1483", 100),
    ("802_11", 105),
    ("802.11", 105),
    ("802_11_RADIO", 127),
    ("802.11_RADIO", 127),
    ("SLL", 113),
    ("AIRONET", 120),
    ("HDLC", 104),
    ("PPP_HDLC", 50),
    ("PPP", 9),
    ("SUNATM", 123),
    ("PRISM", 119),
];

/// The link type that a name, or `#` and a number, stands for.
pub fn parse(name: &str) -> Option<LinkType> {
    let code = match name.strip_prefix('#') {
        Some(number) => router::parse_integer(number).and_then(|n| u32::try_from(n).ok())?,
        None => NAMES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some(LinkType::from_code(code))
}

/// The name of a link type.
pub fn name(linktype: LinkType) -> String {
    let code = linktype.code();
    let known = NAMES.iter().find(|(_, known)| *known == code);
    known.map_or_else(|| format!("#{code}"), |(name, _)| (*name).to_owned())
}

/// The link type of the packets that an element emits: a shared part, by which ToDump finds it.
pub struct Encap {
    /// The file whose link type it is. The first element that asks opens it, so that a configuration can be checked without
    /// its captures.
    path: String,
    linktype: OnceLock<Result<LinkType, String>>,
    opened: Mutex<Option<Reader>>,
    /// Whether an element wants to know where each packet begins in the file.
    watched: AtomicBool,
    /// Where the packet that was read last does.
    position: AtomicU64,
    /// Whether packets of another link type have come.
    several: AtomicBool,
    /// Whether an element goes by the link type.
    asked: AtomicBool,
}

impl Encap {
    /// That of a capture.
    pub fn of_file(path: &str) -> Encap {
        Encap::new(path.to_owned(), OnceLock::new())
    }

    /// One that is known.
    pub fn known(linktype: LinkType) -> Encap {
        Encap::new(String::new(), Ok(linktype).into())
    }

    fn new(path: String, linktype: OnceLock<Result<LinkType, String>>) -> Encap {
        let (watched, position) = (AtomicBool::new(false), AtomicU64::new(0));
        let (several, asked) = (AtomicBool::new(false), AtomicBool::new(false));
        Encap { path, linktype, opened: Mutex::default(), watched, position, several, asked }
    }

    /// Says that an element goes by the link type, and by that of each packet if there are several.
    pub fn ask(&self) {
        self.asked.store(true, Relaxed);
    }

    /// Whether an element does.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Relaxed)
    }

    /// Says that the packet which is emitted next has another link type than the first one.
    pub fn set_several(&self) {
        self.several.store(true, Relaxed);
    }

    /// Whether packets have several link types; then each says its own (`Packet::captured_link`).
    pub fn has_several(&self) -> bool {
        self.several.load(Relaxed)
    }

    /// Has packets emitted one by one from now on, so that [`Encap::position`] is that of the packet that comes.
    pub fn watch(&self) {
        self.watched.store(true, Relaxed);
    }

    /// Where in the file the last packet begins, once an element watches.
    pub fn position(&self) -> u64 {
        self.position.load(Relaxed)
    }

    /// Packets that may be emitted at once, of `want`.
    pub fn at_once(&self, want: usize) -> usize {
        if self.watched.load(Relaxed) { want.min(1) } else { want }
    }

    /// Says where the packet begins that is emitted next.
    pub fn set_position(&self, position: u64) {
        self.position.store(position, Relaxed);
    }

    /// The link type.
    ///
    /// # Errors
    /// The file cannot be opened, or is no capture.
    pub fn linktype(&self) -> Result<LinkType, String> {
        let open = || {
            let reader = Reader::open(&self.path).map_err(|error| error.to_string())?;
            let linktype = reader.linktype();
            *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
            Ok(linktype)
        };
        self.linktype.get_or_init(open).clone()
    }

    /// The file, once, after its link type was asked for.
    pub fn take_reader(&self) -> Option<Reader> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Finds the IP packet in a captured frame and sets header positions and, for IPv4, the destination annotation. False
/// if there is none.
pub fn mark_ip(packet: &mut Packet, linktype: LinkType) -> bool {
    let Some(offset) = linktype.ip_offset(packet.data()) else { return false };
    let header = &packet.data()[offset..];
    if header[0] >> 4 == 4 {
        let Ok(ip) = ipv4::Header::new_checked(header) else { return false };
        let (header_len, dst) = (ip.header_len(), ip.dst());
        if header_len < ipv4::HEADER_LEN || header_len > header.len() {
            return false;
        }
        packet.set_network(offset as isize, header_len);
        packet.set_dst_ip(dst);
    } else {
        if header.len() < ipv6::HEADER_LEN {
            return false;
        }
        packet.set_network(offset as isize, ipv6::HEADER_LEN);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_prints_as_its_first_one() {
        for (text, printed) in [
            ("ETHER", "ETHER"),
            ("802.11", "802_11"),
            ("#147", "#147"),
            ("#1", "ETHER"),
            ("RFC1483", "ATM"),
            ("#100", "ATM"),
        ] {
            assert_eq!(name(parse(text).unwrap()), printed);
        }
        assert_eq!((parse("ETHERNET"), parse("#-1")), (None, None));
    }
}
