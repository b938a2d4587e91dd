//! The summary of one flow, in a file of its own.

use super::form::{Form, Value};
use super::options::{self, Which};
use super::version::MINOR_VERSION;
use device::files;
use elements_shared::label::write_time;
use packet::Packet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use wire::{icmpv4, ip_proto, ipv4, tcp, udp};

/// What flows' files contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) absolute_time: bool,
    pub(super) absolute_seq: bool,
    pub(super) binary: bool,
    pub(super) ip_id: bool,
    pub(super) tcp_window: bool,
    pub(super) options: TcpOptions,
}

/// Which TCP options are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TcpOptions {
    None,
    /// MSS, window scaling and selective acknowledgements.
    Some,
    /// Timestamps, too.
    All,
}

/// The ends of a flow, as a packet in the first packet's direction has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
    pub(super) ports: (u16, u16),
    pub(super) tcp: bool,
}

/// A packet's headers; `None` unless it is the first or only fragment of a TCP or UDP packet that has all of its header, or
/// an ICMP error about one.
struct Headers<'p> {
    ip: ipv4::Header<&'p [u8; ipv4::HEADER_LEN]>,
    /// From the transport header on.
    transport: &'p [u8],
    tcp: bool,
}

impl<'p> Headers<'p> {
    fn of(network: &'p [u8]) -> Option<Headers<'p>> {
        let ip = ipv4::Header::new_checked(network).ok()?;
        let tcp = ip.protocol() == ip_proto::TCP;
        let least = if tcp { tcp::HEADER_LEN } else { udp::HEADER_LEN };
        let transport = network.get(ip.header_len()..).filter(|bytes| bytes.len() >= least)?;
        let known = tcp || ip.protocol() == ip_proto::UDP;
        (known && ip.is_first_fragment()).then_some(Headers { ip, transport, tcp })
    }

    fn ends(&self) -> Ends {
        Ends { src: self.ip.src(), dst: self.ip.dst(), ports: ports(self.transport), tcp: self.tcp }
    }

    fn word(&self, at: usize) -> u32 {
        let bytes = &self.transport[at..at + 4];
        u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    fn tcp_header_len(&self) -> usize {
        usize::from(self.transport[12] >> 4) * 4
    }
}

fn ports(transport: &[u8]) -> (u16, u16) {
    let port = |at: usize| u16::from_be_bytes([transport[at], transport[at + 1]]);
    (port(0), port(2))
}

/// Ends of the packet that an ICMP error tells of; its transport header may be cut off after the ports.
fn told_of(network: &[u8]) -> Option<Ends> {
    let outer = ipv4::Header::new_checked(network).ok()?;
    if outer.protocol() != ip_proto::ICMP {
        return None;
    }
    let inner = network.get(outer.header_len() + icmpv4::HEADER_LEN..)?;
    let ip = ipv4::Header::new_checked(inner).ok()?;
    let transport = inner.get(ip.header_len()..).filter(|bytes| bytes.len() >= 4)?;
    let tcp = ip.protocol() == ip_proto::TCP;
    let known = tcp || ip.protocol() == ip_proto::UDP;
    known.then(|| Ends { src: ip.src(), dst: ip.dst(), ports: ports(transport), tcp })
}

/// The ends of a packet's flow: those of the packet itself, or of the one that it is an ICMP error about, the other way round
/// if its paint says that it goes in the other direction.
pub(super) fn ends(packet: &Packet) -> Option<Ends> {
    let network = packet.network()?;
    let ends = Headers::of(network).map(|headers| headers.ends()).or_else(|| told_of(network))?;
    let (Ends { src, dst, ports: (from, to), tcp }, reverse) = (ends, packet.paint() & 1 == 1);
    Some(if reverse { Ends { src: dst, dst: src, ports: (to, from), tcp } } else { ends })
}

const ACK: u8 = 0x10;
/// Paint from here on is that of ICMP errors.
const ERROR_PAINT: u8 = 2;
/// Bytes that wait before they are written.
const WRITE_FROM: usize = 8 << 10;

/// The dump of a flow.
pub(super) struct FlowDump {
    pub(super) ends: Ends,
    pub(super) filename: String,
    pub(super) packets: u64,
    aggregate: u32,
    contents: Contents,
    first_ns: i64,
    /// The first sequence number in either direction.
    first_seq: [Option<u32>; 2],
    /// Whether the file has been begun.
    pub(super) begun: bool,
    failed: bool,
    /// Records that are not in the file yet.
    records: Vec<u8>,
}

impl FlowDump {
    /// The dump of a flow, of which this is the first packet.
    pub(super) fn new(
        packet: &Packet,
        ends: Ends,
        aggregate: u32,
        filename: String,
        contents: Contents,
    ) -> FlowDump {
        FlowDump {
            ends,
            filename,
            packets: 0,
            aggregate,
            contents,
            // The first packet is to have a time that is not zero.
            first_ns: if contents.absolute_time { 0 } else { packet.timestamp_ns().saturating_sub(1) },
            first_seq: if contents.absolute_seq { [Some(0); 2] } else { [None; 2] },
            begun: false,
            failed: false,
            records: Vec::new(),
        }
    }

    /// Bytes that are not in the file yet.
    pub(super) fn pending(&self) -> usize {
        self.records.len()
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// Writing failed; it is not tried again.
    pub(super) fn add(&mut self, packet: &Packet) -> Result<(), String> {
        let Some(network) = packet.network() else { return Ok(()) };
        if packet.paint() >= ERROR_PAINT {
            self.add_error(packet);
        } else if let Some(headers) = Headers::of(network).filter(|headers| headers.tcp == self.ends.tcp) {
            self.add_packet(packet, &headers);
        } else {
            return Ok(());
        }
        self.packets += 1;
        if self.records.len() >= WRITE_FROM { self.write() } else { Ok(()) }
    }

    /// ICMP errors are remarks.
    fn add_error(&mut self, packet: &Packet) {
        let mut text = "#".to_owned();
        write_time(&mut text, packet.timestamp_ns());
        text += if packet.paint() & 1 == 1 { " > ICMP_error\n" } else { " < ICMP_error\n" };
        if self.contents.binary {
            let length = (text.len() as u32 + 4) | 1 << 31;
            self.records.extend(length.to_be_bytes());
        }
        self.records.extend(text.as_bytes());
    }

    fn add_packet(&mut self, packet: &Packet, headers: &Headers<'_>) {
        let direction = usize::from(packet.paint() & 1);
        let time_ns = packet.timestamp_ns().saturating_sub(self.first_ns);
        let mut numbers = [0; 2];
        let mut options = Vec::new();
        if headers.tcp {
            numbers = self.numbers(headers, direction);
            if let Some(bytes) = headers.transport.get(tcp::HEADER_LEN..headers.tcp_header_len()) {
                options = self.options(bytes, direction).unwrap_or_default();
            }
        }
        if self.contents.binary {
            self.binary_record(headers, direction as u8, time_ns, numbers, &options);
        } else {
            self.text_record(headers, direction, time_ns, numbers, &options);
        }
    }

    /// Sequence and acknowledgement numbers, counted from the first of their directions.
    fn numbers(&mut self, headers: &Headers<'_>, direction: usize) -> [u32; 2] {
        let (seq, ack) = (headers.word(4), headers.word(8));
        let first = *self.first_seq[direction].get_or_insert(seq);
        let relative_ack = if headers.transport[13] & ACK == 0 {
            0
        } else {
            ack.wrapping_sub(*self.first_seq[1 - direction].get_or_insert(ack))
        };
        [seq.wrapping_sub(first), relative_ack]
    }

    /// The options that are to be written, selective acknowledgements counted from the first number of the other direction.
    /// `None` if any is damaged.
    fn options(&mut self, mut bytes: &[u8], direction: usize) -> Option<Vec<u8>> {
        const END: u8 = 0;
        const NOP: u8 = 1;
        const MSS: u8 = 2;
        const SCALE: u8 = 3;
        const SACK_OK: u8 = 4;
        const SACK: u8 = 5;
        const TIMESTAMP: u8 = 8;
        let mut kept = Vec::new();
        while let Some((&kind, rest)) = bytes.split_first().filter(|(kind, _)| **kind != END) {
            if kind == NOP {
                bytes = rest;
                continue;
            }
            let len = usize::from(*rest.first()?);
            let option = bytes.get(..len).filter(|_| len >= 2)?;
            bytes = &bytes[len..];
            let right = match kind {
                MSS => len == 4,
                SCALE => len == 3,
                SACK_OK => len == 2,
                TIMESTAMP => len == 10,
                SACK => len % 8 == 2,
                _ => continue,
            };
            if !right {
                return None;
            }
            let wanted = match self.contents.options {
                TcpOptions::None => false,
                TcpOptions::Some => kind != TIMESTAMP,
                TcpOptions::All => true,
            };
            if wanted && kind == SACK {
                kept.extend(&option[..2]);
                for number in option[2..].as_chunks::<4>().0 {
                    let number = u32::from_be_bytes(*number);
                    let first = *self.first_seq[1 - direction].get_or_insert(number);
                    kept.extend(number.wrapping_sub(first).to_be_bytes());
                }
            } else if wanted {
                kept.extend(option);
            }
        }
        Some(kept)
    }

    /// The length of the data, by the IP header.
    fn payload_len(headers: &Headers<'_>) -> u32 {
        let transport = if headers.tcp { headers.tcp_header_len() } else { udp::HEADER_LEN };
        usize::from(headers.ip.total_len()).saturating_sub(headers.ip.header_len() + transport) as u32
    }

    fn text_record(
        &mut self,
        headers: &Headers<'_>,
        direction: usize,
        time_ns: i64,
        [seq, ack]: [u32; 2],
        options: &[u8],
    ) {
        let mut text = String::new();
        write_time(&mut text, time_ns);
        text += if direction == 0 { " >" } else { " <" };
        // Writing to a string does not fail.
        if self.contents.ip_id {
            let _ = write!(text, " {}", headers.ip.id());
        }
        if headers.tcp {
            text.push(' ');
            Form::TcpFlags.print(&mut text, &Value::Number(headers.transport[13].into()));
            let _ = write!(text, " {seq}");
        }
        let _ = write!(text, " {}", Self::payload_len(headers));
        if headers.tcp {
            let _ = write!(text, " {ack}");
        }
        if headers.tcp && self.contents.tcp_window {
            let _ = write!(text, " {}", headers.word(12) & 0xffff);
        }
        if !options.is_empty() {
            text.push(' ');
            options::print_tcp(&mut text, options, Which::All);
        }
        text.push('\n');
        self.records.extend(text.as_bytes());
    }

    fn binary_record(
        &mut self,
        headers: &Headers<'_>,
        direction: u8,
        time_ns: i64,
        [seq, ack]: [u32; 2],
        options: &[u8],
    ) {
        const NS_PER_S: i64 = 1_000_000_000;
        let start = self.records.len();
        let (seconds, rest) = (time_ns.div_euclid(NS_PER_S) as u32, time_ns.rem_euclid(NS_PER_S) as u32);
        let mut words = vec![0, seconds, rest];
        if headers.tcp {
            words.push(seq);
        }
        words.push(Self::payload_len(headers));
        if headers.tcp {
            words.push(ack);
        }
        words.iter().for_each(|word| self.records.extend(word.to_be_bytes()));
        if self.contents.ip_id {
            self.records.extend(headers.ip.id().to_be_bytes());
        }
        if headers.tcp && self.contents.tcp_window {
            self.records.extend(&headers.transport[14..16]);
        }
        if headers.tcp {
            self.records.push(headers.transport[13]);
        }
        self.records.push(direction);
        if !options.is_empty() {
            self.records.push(options.len() as u8);
            self.records.extend(options);
        }
        let length = (self.records.len() - start) as u32;
        self.records[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// The names of the fields, in order.
    fn fields(&self) -> Vec<&'static str> {
        let Contents { binary, ip_id, tcp_window, options, .. } = self.contents;
        let (tcp, options) =
            (self.ends.tcp, if options == TcpOptions::All { "tcp_opt" } else { "tcp_ntopt" });
        let all: [(&str, bool); 11] = [
            ("ntimestamp", true),
            ("direction", !binary),
            ("ip_id", ip_id && !binary),
            ("tcp_flags", tcp && !binary),
            ("tcp_seq", tcp),
            ("payload_len", true),
            ("tcp_ack", tcp),
            ("ip_id", ip_id && binary),
            ("tcp_window", tcp && tcp_window),
            ("tcp_flags", tcp && binary),
            ("direction", binary),
        ];
        let mut names: Vec<&str> = all.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
        names.extend(tcp.then_some(options));
        names
    }

    /// The lines that describe the file.
    fn head(&self) -> String {
        let Ends { src, dst, ports, tcp } = self.ends;
        let mut text = format!(
            "!IPSummaryDump 1.{MINOR_VERSION}\n!flowid {src} {} {dst} {} {}\n!aggregate {}\n!data {}\n",
            ports.0,
            ports.1,
            if tcp { 'T' } else { 'U' },
            self.aggregate,
            self.fields().join(" ")
        );
        for (first, mark) in self.first_seq.iter().zip(['>', '<']) {
            if let Some(first) = first.filter(|first| *first != 0) {
                // Writing to a string does not fail.
                let _ = writeln!(text, "!firstseq {mark} {first}");
            }
        }
        if self.first_ns != 0 {
            text += "!firsttime ";
            write_time(&mut text, self.first_ns);
            text.push('\n');
        }
        if self.contents.binary {
            text += "!binary\n";
        }
        text
    }

    /// Opens the file, to begin it or to go on, with the directories that it needs.
    fn open(&self) -> io::Result<Box<dyn Write>> {
        if self.filename == "-" {
            return Ok(Box::new(io::stdout()));
        }
        let path = Path::new(&self.filename);
        if self.begun {
            return Ok(Box::new(files::open_with(File::options().append(true), path)?));
        }
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        Ok(Box::new(files::create(path)?))
    }

    /// Writes what is not in the file yet.
    ///
    /// # Errors
    /// That failed; it is not tried again.
    pub(super) fn write(&mut self) -> Result<(), String> {
        let records = std::mem::take(&mut self.records);
        if self.failed {
            return Ok(());
        }
        let mut bytes = if self.begun { Vec::new() } else { self.head().into_bytes() };
        bytes.extend(records);
        let written = self.open().and_then(|mut file| {
            file.write_all(&bytes)?;
            file.flush()
        });
        self.failed = written.is_err();
        self.begun = true;
        written.map_err(|error| format!("{}: {}", self.filename, device::plain(&error)))
    }
}
