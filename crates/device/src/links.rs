//! The kernel's interfaces, asked for by netlink: rtnetlink(7).
//!
//! Names in `/sys/class/net` are those of the network namespace in which `/sys` was mounted, which need not be the program's:
//! `nsenter -n` and containers change the one without the other. Netlink always tells of the program's own.

use crate::sys;
use std::io;
use std::path::PathBuf;
use wire::MacAddr;

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The number that the kernel knows it by.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its Ethernet address, if it has one.
    pub mac: Option<MacAddr>,
    /// Whether it is up and has a carrier.
    pub has_carrier: bool,
    /// Receive queues that it may have at most.
    pub queues_max: u32,
}

// Numbers of rtnetlink(7).
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// `NLM_F_REQUEST | NLM_F_DUMP`
const DUMP: u16 = 0x301;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_NUM_RX_QUEUES: u16 = 32;
const IFLA_CARRIER: u16 = 33;
/// Bytes before a message's body, and of the body before its attributes.
const HEADER: usize = 16;
const BODY: usize = 16;
/// Bytes of a datagram, at most: the kernel makes none longer for a dump.
const CHUNK: usize = 1 << 16;

/// All interfaces of the program's network namespace, by number.
///
/// # Errors
/// What the kernel refuses.
pub fn all() -> io::Result<Vec<Link>> {
    let socket = sys::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    let mut request = ((HEADER + BODY) as u32).to_ne_bytes().to_vec();
    request.extend(RTM_GETLINK.to_ne_bytes());
    request.extend(DUMP.to_ne_bytes());
    request.resize(HEADER + BODY, 0);
    sys::send(&socket, &request)?;
    let (mut links, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    loop {
        let len = sys::receive(&socket, &mut chunk)?;
        if add(&chunk[..len], &mut links)? {
            links.sort_unstable_by_key(|link| link.index);
            return Ok(links);
        }
    }
}

/// The interface of a name, if there is one.
pub fn named(name: &str) -> Option<Link> {
    all().ok()?.into_iter().find(|link| link.name == name)
}

/// Where `/sys` has an interface, if what it has under that name is the interface of this namespace.
pub fn folder(name: &str) -> Option<PathBuf> {
    let link = named(name)?;
    let folder = PathBuf::from("/sys/class/net").join(name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let is_ours = read("ifindex").trim().parse() == Ok(link.index)
        && link.mac.is_none_or(|mac| read("address").trim().parse() == Ok(mac));
    is_ours.then_some(folder)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Adds the interfaces of a datagram; true at the end of the list.
fn add(mut bytes: &[u8], links: &mut Vec<Link>) -> io::Result<bool> {
    while let (Some(len), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) {
        let body = bytes.get(HEADER..len as usize).unwrap_or_default();
        match kind {
            NLMSG_DONE => return Ok(true),
            NLMSG_ERROR => {
                let code = u32_at(body, 0).map_or(libc::EPROTO, |code| (code as i32).wrapping_neg());
                return Err(io::Error::from_raw_os_error(code));
            }
            RTM_NEWLINK => links.extend(read(body)),
            _ => {}
        }
        // A length that makes no sense ends the datagram.
        let step = (len as usize).next_multiple_of(4).max(HEADER);
        bytes = bytes.get(step..).unwrap_or_default();
    }
    Ok(false)
}

/// Reads what a message says of an interface; `None` without a name.
fn read(body: &[u8]) -> Option<Link> {
    let is_up = u32_at(body, 8)? & libc::IFF_UP as u32 != 0;
    let mut link =
        Link { index: u32_at(body, 4)?, name: String::new(), mac: None, has_carrier: is_up, queues_max: 1 };
    let mut rest = body.get(BODY..)?;
    while let (Some(len), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let Some(value) = rest.get(4..len.into()) else { break };
        match kind & 0x3fff {
            IFLA_ADDRESS => link.mac = <[u8; 6]>::try_from(value).ok().map(MacAddr),
            IFLA_IFNAME => {
                let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
                link.name = String::from_utf8_lossy(name).into_owned();
            }
            IFLA_NUM_RX_QUEUES => link.queues_max = u32_at(value, 0).unwrap_or(1).max(1),
            IFLA_CARRIER => link.has_carrier &= value.first() != Some(&0),
            _ => {}
        }
        rest = rest.get(usize::from(len).next_multiple_of(4)..).unwrap_or_default();
    }
    (!link.name.is_empty()).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = (4 + value.len() as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(body);
        bytes
    }

    fn body(index: u32, flags: u32, attributes: &[Vec<u8>]) -> Vec<u8> {
        let mut body = vec![0; 4];
        body.extend(index.to_ne_bytes());
        body.extend(flags.to_ne_bytes());
        body.resize(BODY, 0);
        body.extend(attributes.concat());
        body
    }

    /// An interface that is down has no carrier, whatever the attribute says; an address of another length is none.
    #[test]
    fn messages_are_read() {
        let ether = attribute(IFLA_ADDRESS, &[2, 0, 0, 0, 0, 7]);
        let name = |name: &str| attribute(IFLA_IFNAME, &[name.as_bytes(), &[0]].concat());
        let carrier = |on| attribute(IFLA_CARRIER, &[on]);
        let queues = attribute(IFLA_NUM_RX_QUEUES, &8u32.to_ne_bytes());
        let datagram = [
            message(RTM_NEWLINK, &body(7, 1, &[name("eth0"), ether.clone(), carrier(1), queues])),
            message(RTM_NEWLINK, &body(8, 0, &[name("eth1"), ether, carrier(1)])),
            message(RTM_NEWLINK, &body(9, 1, &[name("tun0"), attribute(IFLA_ADDRESS, &[]), carrier(0)])),
            message(RTM_NEWLINK, &body(10, 1, &[])),
        ]
        .concat();
        let mut links = Vec::new();
        assert!(!add(&datagram, &mut links).unwrap());
        let mac = Some(MacAddr([2, 0, 0, 0, 0, 7]));
        let link = |index, name: &str, mac, has_carrier, queues_max| {
            let name = name.to_owned();
            Link { index, name, mac, has_carrier, queues_max }
        };
        let expected =
            [link(7, "eth0", mac, true, 8), link(8, "eth1", mac, false, 1), link(9, "tun0", None, false, 1)];
        assert_eq!(links, expected);
        assert!(add(&message(NLMSG_DONE, &[0; 4]), &mut links).unwrap());
        let refused = add(&message(NLMSG_ERROR, &(-libc::EPERM).to_ne_bytes()), &mut links);
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EPERM));
        for cut in 0..datagram.len() {
            let _ = add(&datagram[..cut], &mut links); // whatever it says, it ends
        }
    }

    /// Every namespace has a loopback interface, and its number is 1.
    #[test]
    fn loopback_is_there() {
        let links = all().unwrap();
        assert!(links.iter().any(|link| link.index == 1 && link.name == "lo"), "{links:?}");
        assert_eq!(named("no such interface"), None);
    }
}
