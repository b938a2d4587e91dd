//! A collector of flow records and samples, as it reads what routers tell it: IPFIX (RFC 7011, RFC 5103), NetFlow version 9 (RFC 3954) and
//! sFlow version 5.
//!
//! It knows nothing of the exporters but the RFCs, and believes no length that it has not checked.

use crate::datagram::{Datagram, Frame, Segment, ether_type, protocol};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The ports of collectors.
pub const FLOWS: u16 = 4739;
/// The port of those of sFlow.
pub const SAMPLES: u16 = 6343;

/// What packets of one direction have in common: addresses, protocol, ports.
pub type Way = (IpAddr, IpAddr, u8, u16, u16);

/// Packets and octets by direction of flow.
pub type Tally = BTreeMap<Way, [u64; 2]>;

/// Adds a packet, or what a record has.
fn add(tally: &mut Tally, way: Way, [packets, octets]: [u64; 2]) {
    let counts = tally.entry(way).or_default();
    counts[0] += packets;
    counts[1] += octets;
}

/// What went through: of frames, the IP packets, as a sniffer counts them.
pub fn count(frames: impl Iterator<Item = Vec<u8>>) -> Tally {
    let mut tally = Tally::new();
    for frame in frames {
        let Ok(frame) = Frame::parse(&frame) else { continue };
        let packet = match frame.ether_type {
            ether_type::IPV4 | ether_type::IPV6 => Datagram::parse(&frame.payload),
            _ => continue,
        };
        let Ok(packet) = packet else { continue };
        let has_ports = matches!(packet.protocol, protocol::TCP | protocol::UDP)
            && packet.fragment.is_none_or(|part| part.offset == 0);
        let [from, to] = match Segment::parse_quoted(&packet) {
            Ok(segment) if has_ports => segment.ports(),
            _ => [0; 2],
        };
        let way = (packet.src, packet.dst, packet.protocol, from, to);
        add(&mut tally, way, [1, frame.payload.len() as u64]);
    }
    tally
}

/// An element: its enterprise and number.
type Element = (u32, u16);

/// What was told.
#[derive(Default)]
pub struct Collector {
    /// Of flows.
    pub flows: Tally,
    /// Packet samples.
    pub samples: u64,
    /// What messages were wrong about.
    pub faults: Vec<String>,
    /// Whether messages are missing: numbers say so, or records came whose template never did.
    pub misses: bool,
    /// By domain and number: elements and their octets.
    templates: BTreeMap<(u32, u16), Vec<(Element, usize)>>,
    /// The next number of a domain, or of a sub-agent.
    next: BTreeMap<(u16, u32), u32>,
}

/// Takes a number from the front.
fn take(bytes: &mut &[u8], len: usize) -> Result<u128, String> {
    let (number, rest) = bytes.split_at_checked(len).ok_or("it is too short")?;
    *bytes = rest;
    Ok(number.iter().fold(0, |number, &byte| number << 8 | u128::from(byte)))
}

impl Collector {
    /// Reads a frame that a router has sent, if it is for a collector.
    pub fn receive(&mut self, frame: &[u8]) {
        let Ok(packet) = Frame::parse(frame).and_then(|frame| Datagram::parse(&frame.payload)) else {
            return self.faults.push("a frame to a collector is none".into());
        };
        let read = match Segment::parse(&packet) {
            Ok(Segment::Udp { ports: [_, FLOWS], data }) => self.read_flows(&data),
            Ok(Segment::Udp { ports: [_, SAMPLES], data }) => self.read_samples(&data),
            Ok(other) => Err(format!("{other:?} comes to a collector")),
            Err(error) => Err(error),
        };
        self.faults.extend(read.err());
    }

    /// Whether a number is the one that follows; otherwise something is missing.
    fn follow(&mut self, version: u16, domain: u32, number: u32, records: u32) {
        let next = self.next.insert((version, domain), number.wrapping_add(records));
        self.misses |= next.unwrap_or(number) != number;
    }

    fn read_flows(&mut self, message: &[u8]) -> Result<(), String> {
        let mut rest = message;
        let version = take(&mut rest, 2)? as u16;
        let number = take(&mut rest, 2)? as usize;
        match version {
            10 if number == message.len() => drop(take(&mut rest, 4)?),
            9 => drop(take(&mut rest, 8)?),
            _ => return Err(format!("a message of version {version} with {number}")),
        }
        let sequence = take(&mut rest, 4)? as u32;
        let domain = take(&mut rest, 4)? as u32;
        let mut records = 0;
        while !rest.is_empty() {
            let set = take(&mut rest, 2)? as u16;
            let len = take(&mut rest, 2)? as usize;
            let (body, behind) =
                len.checked_sub(4).and_then(|len| rest.split_at_checked(len)).ok_or("a set is too long")?;
            rest = behind;
            match set {
                2 | 3 if version == 10 => self.read_templates(domain, version, set == 3, body)?,
                0 | 1 if version == 9 => self.read_templates(domain, version, set == 1, body)?,
                256.. => records += self.read_records((domain, set), body)?,
                _ => return Err(format!("a set {set}")),
            }
        }
        self.follow(version, domain, sequence, if version == 10 { records } else { 1 });
        Ok(())
    }

    fn read_templates(
        &mut self,
        domain: u32,
        version: u16,
        of_options: bool,
        mut body: &[u8],
    ) -> Result<(), String> {
        while body.len() >= 4 {
            let number = take(&mut body, 2)? as u16;
            let mut fields = Vec::new();
            let mut count = take(&mut body, 2)?;
            if of_options {
                // The number of scopes, or the octets of the other fields behind those of the scopes.
                let second = take(&mut body, 2)?;
                count = if version == 10 { count } else { (count + second) / 4 };
            }
            for _ in 0..count {
                let element = take(&mut body, 2)? as u16;
                let len = take(&mut body, 2)? as usize;
                let is_enterprises = version == 10 && element >> 15 == 1;
                let enterprise = if is_enterprises { take(&mut body, 4)? as u32 } else { 0 };
                fields.push(((enterprise, element & 0x7fff), len));
            }
            self.templates.insert((domain, number), fields);
        }
        Ok(())
    }

    fn read_records(&mut self, template: (u32, u16), mut body: &[u8]) -> Result<u32, String> {
        let Some(fields) = self.templates.get(&template) else {
            self.misses = true;
            return Ok(0);
        };
        let len: usize = fields.iter().map(|(_, len)| len).sum();
        let mut records = 0;
        while body.len() >= len.max(1) {
            let mut record: BTreeMap<Element, u128> = BTreeMap::new();
            for &(element, len) in fields {
                record.insert(element, take(&mut body, len)?);
            }
            records += 1;
            tally(&mut self.flows, &record)?;
        }
        Ok(records)
    }

    fn read_samples(&mut self, mut datagram: &[u8]) -> Result<(), String> {
        let rest = &mut datagram;
        let [version, family, _agent, sub_agent] = [4; 4].map(|len| take(rest, len));
        if (version?, family?) != (5, 1) {
            return Err("no sFlow of an IPv4 agent".into());
        }
        let sub_agent = sub_agent? as u32;
        let number = take(rest, 4)? as u32;
        let _uptime = take(rest, 4)?;
        for _ in 0..take(rest, 4)? {
            let kind = take(rest, 4)?;
            let len = take(rest, 4)? as usize;
            let (_, behind) = rest.split_at_checked(len).ok_or("a sample is too long")?;
            *rest = behind;
            self.samples += u64::from(kind == 1);
        }
        self.follow(5, sub_agent, number, 1);
        if rest.is_empty() { Ok(()) } else { Err("there is something behind the last sample".into()) }
    }
}

/// Counts what a record says of one direction, or of both.
fn tally(flows: &mut Tally, record: &BTreeMap<Element, u128>) -> Result<(), String> {
    /// The enterprise of elements that go the other way (RFC 5103).
    const REVERSE: u32 = 29305;
    let get = |element: u16| record.get(&(0, element)).copied();
    let v4 = |element| get(element).map(|word| IpAddr::V4((word as u32).into()));
    let v6 = |element| get(element).map(|word| IpAddr::V6(word.into()));
    let ends = v4(8).or_else(|| v6(27)).zip(v4(12).or_else(|| v6(28)));
    let (Some((src, dst)), Some(protocol)) = (ends, get(4)) else { return Ok(()) };
    let [from, to] = [7, 11].map(|element| get(element).unwrap_or(0) as u16);
    let counts = |enterprise| {
        let count = |element| record.get(&(enterprise, element)).map(|&count| count as u64);
        count(2).zip(count(1)).map(|(packets, octets)| [packets, octets])
    };
    let forward = counts(0).ok_or("a record of a flow without counts")?;
    add(flows, (src, dst, protocol as u8, from, to), forward);
    if let Some(back) = counts(REVERSE) {
        add(flows, (dst, src, protocol as u8, to, from), back);
    }
    Ok(())
}
