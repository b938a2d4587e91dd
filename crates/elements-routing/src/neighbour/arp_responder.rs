//! Answers ARP queries.
//!
//! ```click
//! ARPResponder(IP/MASK... ETH, ...)
//! ```
//!
//! Takes ARP queries with their Ethernet headers. A query for an address in one of the given prefixes is turned into
//! a reply with the Ethernet address of that prefix; the longest matching prefix counts. Everything else leaves by
//! output 1 or, if there is none, is dropped.
//!
//! A reply keeps the device and VLAN annotations of its query, but no other annotation.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: replicated.
//!
//! # Arguments
//! Each argument is a list of IP addresses and prefixes and one Ethernet address, in any order. A name that stands for
//! both an IP and an Ethernet address can be given alone.
//!
//! # Handlers
//! - `table` (read): the entries, one per line: prefix and Ethernet address.
//! - `lookup` (read, with an IP address): the Ethernet address for it, or nothing.
//! - `add` (write): adds an entry, in the form of an argument; it replaces one for the same prefix.
//! - `remove` (write): removes the entry for a prefix.
//!
//! # Example
//! ```click
//! c :: Classifier(12/0806 20/0001, -);
//! c[0] -> ARPResponder(18.26.4.24 18.26.7.0/24 00:00:C0:AE:67:EF) -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! ARPQuerier, AddressInfo

use elements_shared::ether_address::Prefix;
use elements_shared::ether_header::mark_frame;
use elements_shared::vlan::keep_vlan_only;
use packet::{Kind, Packet};
use router::{Class, Config, ConfigError, Cx, Element, FromArg, Handlers, PerPacket, Scope, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::ethernet::{HEADER_LEN, Header, ether_type};
use wire::{MacAddr, arp};

/// The class.
pub(crate) const CLASS: Class = Class::new("ARPResponder", create)
    .ports("1/1-2")
    .processing("a/ah")
    .live()
    .doc(router::manual!("arp_responder.rs"));

const FRAME_LEN: usize = HEADER_LEN + arp::PACKET_LEN;

#[derive(Clone, Copy)]
struct Entry {
    prefix: Prefix,
    mac: MacAddr,
}

/// One argument: the entries that it stands for.
struct Entries(Vec<Entry>);

impl FromArg for Entries {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let (mut prefixes, mut mac) = (Vec::new(), None);
        let words = lang::conf::split_spaces(text);
        for word in &words {
            if let Ok(prefix) = Prefix::from_arg(word, scope) {
                prefixes.push(prefix);
            } else if let Ok(address) = MacAddr::from_arg(word, scope) {
                if mac.replace(address).is_some() {
                    return Err("more than one ETH".to_owned());
                }
            } else {
                return Err("expected IP/MASK ETH".to_owned());
            }
        }
        // A name may be both.
        let mac = mac.or_else(|| words.iter().find_map(|word| MacAddr::from_arg(word, scope).ok()));
        if prefixes.is_empty() {
            return Err("missing IP/MASK".to_owned());
        }
        let mac = mac.ok_or("missing ETH")?;
        Ok(Entries(prefixes.into_iter().map(|prefix| Entry { prefix, mac }).collect()))
    }
}

struct ARPResponder {
    /// Entries inside others come first, so that the first match is the right one.
    entries: Vec<Entry>,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ARPResponder { entries: Vec::new(), outputs: config.outputs() };
    let (mut errors, mut doubled) = (Vec::new(), Vec::new());
    for (i, word) in lang::conf::split_args(config.text()).iter().enumerate() {
        if word.is_empty() {
            continue;
        }
        match Entries::from_arg(word, config.scope()) {
            Ok(entries) => doubled.extend(entries.0.into_iter().filter(|entry| e.add(*entry))),
            Err(error) => errors.push(format!("argument {i}: {error}")),
        }
    }
    for Entry { prefix, .. } in doubled {
        let prefix = wire::net::ipv4_and_mask(prefix.network(), prefix.mask);
        config.warn(format!("multiple entries for {prefix}"));
    }
    if errors.is_empty() { Ok(Box::new(PerPacket(e))) } else { Err(ConfigError::from(errors)) }
}

impl ARPResponder {
    /// Adds an entry; true if it replaced one.
    fn add(&mut self, entry: Entry) -> bool {
        let replaced = self.remove(&entry.prefix);
        let specific = entry.prefix.mask.to_bits().count_ones();
        let wider = |other: &Entry| {
            other.prefix.mask.to_bits().count_ones() < specific && other.prefix.contains(entry.prefix.address)
        };
        let at = self.entries.iter().position(wider).unwrap_or(self.entries.len());
        self.entries.insert(at, entry);
        replaced
    }

    fn remove(&mut self, prefix: &Prefix) -> bool {
        let before = self.entries.len();
        self.entries.retain(|e| e.prefix.network() != prefix.network() || e.prefix.mask != prefix.mask);
        self.entries.len() < before
    }

    #[inline]
    fn lookup(&self, address: Ipv4Addr) -> Option<MacAddr> {
        self.entries.iter().find(|entry| entry.prefix.contains(address)).map(|entry| entry.mac)
    }

    /// Turns a query that can be answered into the answer.
    fn answer(&self, packet: &mut Packet) -> Option<()> {
        let (ethernet, payload) = packet.data_mut().split_first_chunk_mut()?;
        let mut ethernet = Header::new(ethernet);
        let query = arp::check(payload).ok()?;
        if ethernet.ether_type() != ether_type::ARP || query.operation() != arp::REQUEST {
            return None;
        }
        let (asker, asker_ip, wanted) = (query.sender_mac(), query.sender_ip(), query.target_ip());
        let mac = self.lookup(wanted)?;
        ethernet.set_dst(asker);
        ethernet.set_src(mac);
        let mut reply = arp::Packet::new_checked_mut(payload).ok()?;
        reply.set_operation(arp::REPLY);
        reply.set_sender(mac, wanted);
        reply.set_target(asker, asker_ip);
        let padding = packet.len() - FRAME_LEN; // both views fit in the packet
        let _ = packet.take(padding);
        keep_vlan_only(packet);
        packet.set_timestamp_ns(0);
        packet.set_kind(Kind::Host);
        mark_frame(packet);
        Some(())
    }
}

impl Simple for ARPResponder {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.answer(packet) {
            Some(()) => Verdict::Pass,
            None if self.outputs > 1 => Verdict::Output(1),
            None => Verdict::Drop("no ARP query for an address of ours"),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = ARPResponder;
        h.read("table", |e: &mut R, _| {
            let line = |Entry { prefix, mac }: &Entry| {
                format!("{} {mac}\n", wire::net::ipv4_and_mask(prefix.network(), prefix.mask))
            };
            e.entries.iter().map(line).collect::<String>()
        });
        h.read_with("lookup", |e: &mut R, cx, text| {
            let address = router::value::<Ipv4Addr>(cx, text).map_err(|_| "expected IP address")?;
            Ok(e.lookup(address).map(|mac| mac.to_string()).unwrap_or_default())
        });
        h.write("add", |e: &mut R, cx, text| {
            for entry in router::value::<Entries>(cx, text)?.0 {
                e.add(entry);
            }
            Ok(())
        });
        h.write("remove", |e: &mut R, cx, text| {
            let prefix = router::value::<Prefix>(cx, text).map_err(|_| "expected IP/MASK")?;
            if e.remove(&prefix) {
                return Ok(());
            }
            Err(format!("{} not found", wire::net::ipv4_and_mask(prefix.network(), prefix.mask)))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, errors, run_and_read};
    use proptest::prelude::*;
    use router::Call;

    proptest! {
        /// Whatever arrives: an answer has the right form and goes to who asked, all else stays as it was.
        #[test]
        fn arbitrary_frames(
            mut frame in prop::collection::vec(any::<u8>(), 0..80),
            good in any::<bool>(),
            wanted in 0u8..4,
        ) {
            if good && frame.len() >= FRAME_LEN {
                frame[12..22].copy_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
                frame[38..42].copy_from_slice(&[10, 0, 0, wanted]);
            }
            let prefix = Prefix { address: Ipv4Addr::new(10, 0, 0, 2), mask: wire::net::mask_v4(31) };
            let responder = ARPResponder { entries: vec![Entry { prefix, mac: MacAddr::ZERO }], outputs: 1 };
            let mut packet = packet::Pool::new().packet(&frame).unwrap();
            if responder.answer(&mut packet).is_none() {
                prop_assert_eq!(packet.data(), &frame[..]);
                prop_assert!(!good || frame.len() < FRAME_LEN || wanted < 2);
            } else {
                let reply = arp::check(&packet.data()[HEADER_LEN..]).unwrap();
                prop_assert_eq!((packet.len(), reply.operation()), (FRAME_LEN, arp::REPLY));
                prop_assert_eq!(&packet.data()[..6], &frame[22..28]);
                prop_assert_eq!(reply.sender_ip(), Ipv4Addr::new(10, 0, 0, frame[41]));
                prop_assert_eq!(&packet.data()[32..42], &frame[22..32]);
            }
        }
    }

    /// A padded query for 10.0.0.9 from 1-2-3-4-5-6, 10.0.0.1.
    const QUERY: &str = "\\<ffffffffffff 010203040506 0806 0001 0800 06 04 0001
         010203040506 0a000001 000000000000 0a000009 00000000>";

    /// The reply goes back to the asker, has the right sender, and no padding.
    #[test]
    fn the_reply_goes_back_to_the_asker() {
        let reply = "0/010203040506 6/0000c0ae67ef 12/0806 14/0001080006040002 22/0000c0ae67ef 28/0a000009
                     32/010203040506 38/0a000001";
        let config = format!(
            "InfiniteSource(DATA {QUERY}, LIMIT 2, STOP true)
             -> r :: ARPResponder(10.0.0.0/8 9:9:9:9:9:9, 10.0.0.9 10.1.0.0/16 0:0:c0:ae:67:ef)
             -> c :: Classifier({reply}, -); c[1] -> Discard; c[0] -> d :: Discard; r[1] -> other :: Discard;"
        );
        let table =
            "10.0.0.9/32 00-00-C0-AE-67-EF\n10.1.0.0/16 00-00-C0-AE-67-EF\n10.0.0.0/8 09-09-09-09-09-09\n";
        assert_eq!(
            run_and_read(&config, &["d.count", "d.byte_count", "other.count", "r.table"]),
            ["2", "84", "0", table]
        );
    }

    /// What is no query for an address of the table leaves by the other output, as it came.
    #[test]
    fn other_packets_leave_by_the_second_output() {
        let config = format!(
            "InfiniteSource(DATA {QUERY}, LIMIT 2, STOP true) -> r :: ARPResponder(10.0.0.8/32 9:9:9:9:9:9)
             -> Discard; r[1] -> c :: Classifier(0/ffffffffffff 20/0001, -); c[0] -> d :: Discard; c[1] -> Discard;"
        );
        assert_eq!(run_and_read(&config, &["d.count", "d.byte_count"]), ["2", "92"]);
        let short = "InfiniteSource(LENGTH 41, LIMIT 2, STOP true) -> r :: ARPResponder(10.0.0.8 9:9:9:9:9:9) -> Discard";
        assert_eq!(run_and_read(short, &["r.drop_reasons"]), ["2\tno ARP query for an address of ours\n"]);
    }

    #[test]
    fn handlers_change_the_table() {
        let mut router =
            build("Idle0 :: InfiniteSource -> r :: ARPResponder(1.0.0.0/8 9:9:9:9:9:9) -> Discard", 1, 1)
                .unwrap();
        let mut call = |call| router.call(call);
        assert_eq!(call(Call::write("r.add", "1.2.0.0/16 8:8:8:8:8:8")), Ok(String::new()));
        assert_eq!(call(Call::read("r.lookup", "1.2.3.4")), Ok("08-08-08-08-08-08".to_owned()));
        assert_eq!(call(Call::write("r.remove", "1.2.0.0/16")), Ok(String::new()));
        assert_eq!(call(Call::read("r.lookup", "1.2.3.4")), Ok("09-09-09-09-09-09".to_owned()));
        assert_eq!(call(Call::read("r.lookup", "2.2.3.4")), Ok(String::new()));
        assert_eq!(call(Call::write("r.remove", "1.2.0.0/16")), Err("1.2.0.0/16 not found".into()));
    }

    #[test]
    fn bad_arguments() {
        let text = errors("InfiniteSource -> ARPResponder(1.0.0.1, 1:1:1:1:1:1, 1.0.0.1 x) -> Discard");
        for part in
            ["argument 0: missing ETH", "argument 1: missing IP/MASK", "argument 2: expected IP/MASK ETH"]
        {
            assert!(text.contains(part), "{text}");
        }
    }
}
