//! Decoding pcapng files (draft-ietf-opsawg-pcapng).

use super::byte_order::ByteOrder;
use super::error::ErrorKind;
use super::skipped::{Skipped, find_next};
use super::source::Source;
use super::{LinkType, RECORD_LEN_MAX, Record};

/// First bytes of a section, the same in both byte orders.
pub(super) const BLOCK_SECTION: u32 = 0x0a0d_0d0a;
pub(super) const BLOCK_INTERFACE: u32 = 1;
/// Obsolete, but still met.
const BLOCK_PACKET: u32 = 2;
const BLOCK_SIMPLE: u32 = 3;
pub(super) const BLOCK_ENHANCED: u32 = 6;
/// All that capturing programs write: those above, names, statistics, journal entries, secrets, and custom blocks.
const BLOCKS_KNOWN: [u32; 11] = [
    BLOCK_SECTION,
    BLOCK_INTERFACE,
    BLOCK_PACKET,
    BLOCK_SIMPLE,
    4,
    5,
    BLOCK_ENHANCED,
    9,
    10,
    0x0bad,
    0x4000_0bad,
];
pub(super) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

const OPTION_END: u16 = 0;
pub(super) const OPTION_TSRESOL: u16 = 9;
const OPTION_TSOFFSET: u16 = 14;

/// Longest block that is believed, in bytes; libpcap has the same limit.
const BLOCK_LEN_MAX: u32 = 16 * 1024 * 1024;
/// Most interfaces that one section may describe.
const INTERFACES_MAX: usize = 65_536;
/// Block type and the two copies of the block length.
const BLOCK_OVERHEAD: u32 = 12;

/// State of reading a pcapng file: the current section.
pub(super) struct PcapNg {
    order: ByteOrder,
    /// `None` where a description could not be read: the numbers of those behind it stay.
    interfaces: Vec<Option<Interface>>,
    /// The current block behind its type and length, with the second length at the end. The longest so far sets its size.
    block: Vec<u8>,
}

/// What an interface description says about the packets of that interface.
#[derive(Clone, Copy)]
struct Interface {
    linktype: LinkType,
    snaplen: u32,
    clock: Clock,
}

/// How the timestamps of an interface count.
#[derive(Clone, Copy)]
struct Clock {
    unit: Unit,
    offset_seconds: i64,
}

/// Length of one unit of time.
#[derive(Clone, Copy)]
enum Unit {
    /// So many nanoseconds.
    Nanoseconds(u64),
    /// A second divided by ten to this power.
    DecimalFraction(u32),
    /// A second divided by two to this power.
    BinaryFraction(u32),
}

/// What a block brought.
enum Step {
    Record(Record),
    Other,
    /// It is bad, and was passed over.
    Bad(ErrorKind),
    End,
}

impl PcapNg {
    /// Whether these are the first bytes of a pcapng file.
    pub(super) fn recognises(magic: [u8; 4]) -> bool {
        u32::from_le_bytes(magic) == BLOCK_SECTION
    }

    /// Reads the first section's header and on to the first interface description; the first four bytes have been
    /// read before.
    pub(super) fn open(source: &mut Source, skipped: &mut Skipped) -> Result<PcapNg, ErrorKind> {
        let mut this = PcapNg { order: ByteOrder::Little, interfaces: Vec::new(), block: Vec::new() };
        this.section(source)?;
        let mut unused = Vec::new();
        while this.interfaces.is_empty() {
            match this.step(source, &mut unused)? {
                Step::End => break,
                Step::Bad(kind) => skipped.add(kind, source.mark()),
                Step::Other | Step::Record(_) => {}
            }
        }
        Ok(this)
    }

    /// Link type and snapshot length of the section's first interface.
    pub(super) fn first_interface(&self) -> Option<(LinkType, u32)> {
        let first = self.interfaces.iter().flatten().next();
        first.map(|interface| (interface.linktype, interface.snaplen))
    }

    /// Reads on to the next good packet, `None` at the end.
    pub(super) fn next(
        &mut self,
        source: &mut Source,
        buf: &mut Vec<u8>,
        skipped: &mut Skipped,
    ) -> Result<Option<Record>, ErrorKind> {
        loop {
            match self.step(source, buf)? {
                Step::Record(record) => return Ok(Some(record)),
                Step::Bad(kind) => skipped.add(kind, source.mark()),
                Step::Other => {}
                Step::End => return Ok(None),
            }
        }
    }

    /// Reads one block.
    fn step(&mut self, source: &mut Source, buf: &mut Vec<u8>) -> Result<Step, ErrorKind> {
        source.set_mark();
        let mut head = [0; 8];
        if !source.fill_or_end(&mut head[..4])? {
            return Ok(Step::End);
        }
        let kind = self.order.u32_at(&head, 0);
        if kind == BLOCK_SECTION {
            self.section(source)?;
            return Ok(Step::Other);
        }
        source.fill_all(&mut head[4..])?;
        let length = self.order.u32_at(&head, 4);
        if let Some(problem) = self.read_block(source, length)? {
            source.unread(&head);
            return self.pass_over(source, kind, length, problem);
        }
        let body = &self.block[..(length - BLOCK_OVERHEAD) as usize];
        let step = match kind {
            BLOCK_INTERFACE => {
                let read = Interface::read(self.order, body);
                let added = add(&mut self.interfaces, read.as_ref().ok().copied());
                read.and(added).map(|()| Step::Other)
            }
            BLOCK_ENHANCED | BLOCK_PACKET => self.packet(body, kind, buf).map(Step::Record),
            BLOCK_SIMPLE => self.simple_packet(body, buf).map(Step::Record),
            _ => Ok(Step::Other),
        };
        Ok(step.unwrap_or_else(Step::Bad))
    }

    /// Reads a block behind its type and length. What is wrong with its lengths, if something is: then it is still to be read.
    fn read_block(&mut self, source: &mut Source, length: u32) -> Result<Option<ErrorKind>, ErrorKind> {
        if let Err(problem) = check_length(length) {
            return Ok(Some(problem));
        }
        let wanted = (length - 8) as usize;
        if self.block.len() < wanted {
            self.block.resize(wanted, 0);
        }
        let block = &mut self.block[..wanted];
        let count = source.fill(block)?;
        if count == wanted && self.order.u32_at(block, wanted - 4) == length {
            return Ok(None);
        }
        source.unread(&block[..count]);
        Ok(Some(match count == wanted {
            true => ErrorKind::Malformed { what: "the two lengths of the block differ" },
            false => ErrorKind::Truncated,
        }))
    }

    /// Passes over a block with a wrong length, up to the next good block.
    fn pass_over(
        &mut self,
        source: &mut Source,
        kind: u32,
        length: u32,
        problem: ErrorKind,
    ) -> Result<Step, ErrorKind> {
        let claimed = length as usize;
        let next = find_next(source, |bytes, ended| {
            if ended && claimed == bytes.len() {
                return Some(claimed); // the last one
            }
            std::iter::once(claimed).chain(1..bytes.len()).find(|at| self.begins_block(bytes, *at))
        });
        let Some(next) = next else { return Err(problem) };
        if kind == BLOCK_INTERFACE {
            let _ = add(&mut self.interfaces, None); // it is bad already
        }
        source.skip(next as u64)?;
        Ok(Step::Bad(problem))
    }

    /// Whether what begins at `at` can only be a block: one of a known type, with its length at both ends.
    fn begins_block(&self, bytes: &[u8], at: usize) -> bool {
        let Some(bytes) = bytes.get(at..) else { return false };
        let kind = self.order.u32_at(bytes, 0);
        if bytes.len() < BLOCK_OVERHEAD as usize || !BLOCKS_KNOWN.contains(&kind) {
            return false;
        }
        let section = (kind == BLOCK_SECTION).then(|| order_of_section(&bytes[8..])).flatten();
        let order = section.unwrap_or(self.order);
        let length = order.u32_at(bytes, 4);
        let end = bytes.get(..length as usize);
        check_length(length).is_ok()
            && end.is_some_and(|block| order.u32_at(block, block.len() - 4) == length)
    }

    /// Reads a section header whose block type has been read; forgets the section before it.
    fn section(&mut self, source: &mut Source) -> Result<(), ErrorKind> {
        let mut header = [0; 12];
        source.fill_all(&mut header)?;
        self.order = order_of_section(&header[4..])
            .ok_or(ErrorKind::Malformed { what: "the section header has no byte-order magic" })?;
        let (major, minor) = (self.order.u16_at(&header, 8), self.order.u16_at(&header, 10));
        if major != 1 {
            return Err(ErrorKind::Version { major, minor });
        }
        let length = self.order.u32_at(&header, 0);
        check_length(length)?;
        let body_len = length - BLOCK_OVERHEAD;
        // Byte-order magic, version and section length are 16 bytes; 8 of them have been read.
        if body_len < 16 {
            return Err(ErrorKind::Malformed { what: "the section header is too short" });
        }
        source.skip(u64::from(body_len - 8))?;
        self.interfaces.clear();
        self.block_end(source, length)
    }

    /// Reads the second copy of the block length.
    fn block_end(&self, source: &mut Source, length: u32) -> Result<(), ErrorKind> {
        let mut again = [0; 4];
        source.fill_all(&mut again)?;
        if self.order.u32(again) != length {
            return Err(ErrorKind::Malformed { what: "the two lengths of the block differ" });
        }
        Ok(())
    }

    /// Reads the body of an enhanced packet block or of the obsolete packet block: both have 20 bytes of header,
    /// and differ in how they name the interface.
    fn packet(&self, body: &[u8], kind: u32, buf: &mut Vec<u8>) -> Result<Record, ErrorKind> {
        let Some((header, data)) = body.split_at_checked(20) else {
            return Err(ErrorKind::Malformed { what: "the packet block is too short" });
        };
        let order = self.order;
        let id = match kind {
            BLOCK_PACKET => u32::from(order.u16_at(header, 0)),
            _ => order.u32_at(header, 0),
        };
        let interface = self.interface_of(id)?;
        let ticks = u64::from(order.u32_at(header, 4)) << 32 | u64::from(order.u32_at(header, 8));
        let length = order.u32_at(header, 12);
        take(data, length, buf)?;
        Ok(Record {
            time_ns: interface.clock.time_ns(ticks),
            orig_len: order.u32_at(header, 16).max(length),
            linktype: interface.linktype,
            interface: 0,
        })
    }

    /// Reads the body of a simple packet block: no time, always the first interface, and the captured length
    /// follows from the block, the packet and the interface's snapshot length.
    fn simple_packet(&self, body: &[u8], buf: &mut Vec<u8>) -> Result<Record, ErrorKind> {
        let Some((header, data)) = body.split_at_checked(4) else {
            return Err(ErrorKind::Malformed { what: "the simple packet block is too short" });
        };
        let orig_len = self.order.u32_at(header, 0);
        let interface = self.interface_of(0)?;
        let snaplen = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
        let room = data.len() as u32; // a block has 16 MiB at most
        take(data, orig_len.min(snaplen).min(room), buf)?;
        Ok(Record { time_ns: 0, orig_len, linktype: interface.linktype, interface: 0 })
    }

    fn interface_of(&self, id: u32) -> Result<Interface, ErrorKind> {
        let found = usize::try_from(id).ok().and_then(|id| self.interfaces.get(id)).copied().flatten();
        found.ok_or(ErrorKind::Malformed { what: "the packet's interface has not been described" })
    }
}

impl Interface {
    fn read(order: ByteOrder, body: &[u8]) -> Result<Interface, ErrorKind> {
        if body.len() < 8 {
            return Err(ErrorKind::Malformed { what: "the interface description is too short" });
        }
        Ok(Interface {
            linktype: LinkType::from_code(u32::from(order.u16_at(body, 0))),
            snaplen: order.u32_at(body, 4),
            clock: Clock::from_options(order, &body[8..]),
        })
    }
}

/// Gives the next interface its number.
fn add(interfaces: &mut Vec<Option<Interface>>, interface: Option<Interface>) -> Result<(), ErrorKind> {
    if interfaces.len() >= INTERFACES_MAX {
        return Err(ErrorKind::Malformed { what: "the section describes more than 65,536 interfaces" });
    }
    interfaces.push(interface);
    Ok(())
}

/// Takes `length` bytes of packet from the `data` of a block; padding and options may follow.
fn take(data: &[u8], length: u32, buf: &mut Vec<u8>) -> Result<(), ErrorKind> {
    if length > RECORD_LEN_MAX {
        return Err(ErrorKind::RecordTooLong { length });
    }
    let Some(packet) = data.get(..length as usize) else {
        return Err(ErrorKind::Malformed { what: "the packet is longer than its block" });
    };
    buf.clear();
    buf.extend_from_slice(packet);
    Ok(())
}

/// The byte order of a section, from its first bytes behind type and length.
fn order_of_section(body: &[u8]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.u32_at(body, 0) == BYTE_ORDER_MAGIC)
}

/// Whether a block can have this total length.
fn check_length(length: u32) -> Result<(), ErrorKind> {
    if !length.is_multiple_of(4) {
        return Err(ErrorKind::Malformed { what: "the block's length is not a multiple of four" });
    }
    if length > BLOCK_LEN_MAX {
        return Err(ErrorKind::Malformed { what: "the block is absurdly long (more than 16 MiB)" });
    }
    if length < BLOCK_OVERHEAD {
        return Err(ErrorKind::Malformed { what: "the block is shorter than its frame" });
    }
    Ok(())
}

impl Clock {
    /// Reads the clock from an interface's options; what is unknown or damaged in them is passed over.
    fn from_options(order: ByteOrder, mut options: &[u8]) -> Clock {
        let mut clock = Clock { unit: Unit::Nanoseconds(1000), offset_seconds: 0 };
        while options.len() >= 4 {
            let code = order.u16_at(options, 0);
            let length = usize::from(order.u16_at(options, 2));
            let Some(value) = options.get(4..4 + length) else { break };
            match (code, value) {
                (OPTION_END, _) => break,
                (OPTION_TSRESOL, [resolution]) => clock.unit = Unit::from_tsresol(*resolution),
                (OPTION_TSOFFSET, [_, _, _, _, _, _, _, _]) => clock.offset_seconds = order.i64_at(value, 0),
                _ => {}
            }
            options = options.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        }
        clock
    }

    /// Nanoseconds since 1970 of a timestamp; times outside the range of an `i64` (1677 to 2262) are clamped to it.
    fn time_ns(self, ticks: u64) -> i64 {
        const NS_PER_S: i128 = 1_000_000_000;
        let ticks = u128::from(ticks);
        let since = match self.unit {
            Unit::Nanoseconds(ns) => ticks * u128::from(ns),
            Unit::DecimalFraction(power) => match 10_u128.checked_pow(power) {
                Some(per_second) => ticks * NS_PER_S as u128 / per_second,
                // 2^64 ticks of 10^-39 s are no nanosecond.
                None => 0,
            },
            Unit::BinaryFraction(power) => (ticks * NS_PER_S as u128) >> power,
        };
        // At most 2^64 * 10^9, which is below 2^94.
        let time_ns = since as i128 + i128::from(self.offset_seconds) * NS_PER_S;
        time_ns.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

impl Unit {
    /// The meaning of the option `if_tsresol`: a power of two if the upper bit is set, of ten if not.
    fn from_tsresol(resolution: u8) -> Unit {
        let power = u32::from(resolution & 0x7f);
        match (resolution & 0x80 != 0, power) {
            (true, power) => Unit::BinaryFraction(power),
            (false, power @ 0..=9) => Unit::Nanoseconds(10_u64.pow(9 - power)),
            (false, power) => Unit::DecimalFraction(power),
        }
    }
}
