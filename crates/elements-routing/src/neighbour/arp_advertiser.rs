//! Sends gratuitous ARP replies at regular intervals, for a list of addresses.
//!
//! ```click
//! ARPAdvertiser([DSTIP, DSTETH, SRCIP, SRCETH, KEYWORDS])
//! ```
//!
//! One second after the start, and every ten seconds from then on, sends an ARP reply in an Ethernet frame to DSTIP
//! at DSTETH, saying that SRCIP is at SRCETH. It does so for each entry of its list, which handlers can change. It is
//! FastClick's element.
//!
//! Ports: no input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `DSTIP` (IP address), `DSTETH` (Ethernet address): the receiver.
//! - `SRCIP` (IP address), `SRCETH` (Ethernet address): the addresses to announce. Unless all four arguments are
//!   given, the list is empty at first.
//! - `CAPACITY` (integer, default 10): initial capacity of the list, in entries.
//!
//! # Handlers
//! - `table` (read): the entries, one per line.
//! - `count` (read): the number of entries.
//! - `capacity` (read): the current capacity. It doubles when the list is full.
//! - `insert`, `delete` (write): adds or removes the entry `DSTIP DSTETH SRCIP SRCETH`.
//! - `clear` (write, button): removes all entries.
//!
//! # Example
//! ```click
//! ARPAdvertiser(18.26.4.1, 0:e0:2b:b:1a:0, 18.26.4.99, 0:a0:c9:9c:fd:9c) -> Discard
//! ```
//!
//! # See also
//! ARPFaker, ARPResponder

use super::arp_faker::{FRAME_LEN, reply};
use elements_shared::ether_header::mark_frame;
use packet::DEFAULT_HEADROOM;
use router::{Activity, Args, Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::fmt::{self, Display};
use std::net::Ipv4Addr;
use std::time::Duration;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("ARPAdvertiser", create)
    .ports("0/1")
    .processing("/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("arp_advertiser.rs"));

/// To whom, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    to: (Ipv4Addr, MacAddr),
    host: (Ipv4Addr, MacAddr),
}

const NOBODY: (Ipv4Addr, MacAddr) = (Ipv4Addr::UNSPECIFIED, MacAddr::ZERO);

impl Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((to, to_eth), (host, host_eth)) = (self.to, self.host);
        write!(f, "[Dst IP: {to}, Dst MAC: {to_eth}] --> [Adv IP: {host}, Adv MAC: {host_eth}]")
    }
}

struct ArpAdvertiser {
    entries: Vec<Entry>,
    capacity: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut entry = Entry { to: NOBODY, host: NOBODY };
    let mut capacity = 10u16;
    config
        .args()
        .positional("DSTIP", &mut entry.to.0)
        .positional("DSTETH", &mut entry.to.1)
        .positional("SRCIP", &mut entry.host.0)
        .positional("SRCETH", &mut entry.host.1)
        .keyword("CAPACITY", &mut capacity)
        .finish()?;
    if capacity == 0 {
        return Err("CAPACITY: must be positive".into());
    }
    let parts = [entry.to, entry.host];
    let is_whole = parts.iter().all(|(ip, eth)| !ip.is_unspecified() && *eth != MacAddr::ZERO);
    let entries = if is_whole { vec![entry] } else { Vec::new() };
    Ok(Box::new(ArpAdvertiser { entries, capacity: capacity.into() }))
}

/// Reads an entry as handlers take it.
fn entry(cx: &Cx<'_>, text: &str) -> Result<Entry, String> {
    let mut entry = Entry { to: NOBODY, host: NOBODY };
    let words = text.split_whitespace().map(str::to_owned).collect();
    Args::new(words, router::scope(cx))
        .required("DSTIP", &mut entry.to.0)
        .required("DSTETH", &mut entry.to.1)
        .required("SRCIP", &mut entry.host.0)
        .required("SRCETH", &mut entry.host.1)
        .finish()
        .map_err(|error| error.to_string())?;
    Ok(entry)
}

impl ArpAdvertiser {
    fn insert(&mut self, entry: Entry) -> Result<(), String> {
        if self.entries.contains(&entry) {
            return Err("the entry is there already".to_owned());
        }
        if self.entries.len() == self.capacity {
            self.capacity *= 2;
        }
        self.entries.push(entry);
        Ok(())
    }

    fn delete(&mut self, entry: Entry) -> Result<(), String> {
        let at = self.entries.iter().position(|known| *known == entry).ok_or("there is no such entry")?;
        self.entries.remove(at);
        Ok(())
    }
}

impl Element for ArpAdvertiser {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timers().after(0, Duration::from_secs(1));
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        for Entry { to, host } in &self.entries {
            match cx.pool().alloc(DEFAULT_HEADROOM, FRAME_LEN) {
                Some(mut packet) => {
                    packet.data_mut().copy_from_slice(&reply(*to, *host));
                    mark_frame(&mut packet);
                    cx.emit_packet(0, packet);
                }
                None => cx.count_drops("no buffer", 1),
            }
        }
        cx.timers().after(0, Duration::from_secs(10));
    }

    fn handlers(&self, h: &mut Handlers) {
        type A = ArpAdvertiser;
        h.read("table", |e: &mut A, _| {
            e.entries.iter().map(|entry| format!("{entry}\n")).collect::<String>()
        });
        h.read("count", |e: &mut A, _| e.entries.len());
        h.read("capacity", |e: &mut A, _| e.capacity);
        h.write("insert", |e: &mut A, cx, text| e.insert(entry(cx, text)?));
        h.write("delete", |e: &mut A, cx, text| e.delete(entry(cx, text)?));
        h.write("clear", |e: &mut A, _, _| {
            e.entries.clear();
            Ok(())
        })
        .as_button();
    }
}
