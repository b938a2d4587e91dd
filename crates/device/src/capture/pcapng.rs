//! Decoding pcapng files (draft-ietf-opsawg-pcapng).

use super::byte_order::ByteOrder;
use super::error::ErrorKind;
use super::source::Source;
use super::{LinkType, RECORD_LEN_MAX, Record};

/// First bytes of a section, the same in both byte orders.
pub(super) const BLOCK_SECTION: u32 = 0x0a0d_0d0a;
pub(super) const BLOCK_INTERFACE: u32 = 1;
/// Obsolete, but still met.
const BLOCK_PACKET: u32 = 2;
const BLOCK_SIMPLE: u32 = 3;
pub(super) const BLOCK_ENHANCED: u32 = 6;
pub(super) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

const OPTION_END: u16 = 0;
pub(super) const OPTION_TSRESOL: u16 = 9;
const OPTION_TSOFFSET: u16 = 14;

/// Longest block that is believed, in bytes; libpcap has the same limit.
const BLOCK_LEN_MAX: u32 = 16 * 1024 * 1024;
/// Longest interface description that is believed, in bytes: it is the only block held in memory.
const INTERFACE_LEN_MAX: u32 = 256 * 1024;
/// Most interfaces that one section may describe.
const INTERFACES_MAX: usize = 65_536;
/// Block type and the two copies of the block length.
const BLOCK_OVERHEAD: u32 = 12;

/// State of reading a pcapng file: the current section.
pub(super) struct PcapNg {
    order: ByteOrder,
    interfaces: Vec<Interface>,
    /// Reused for the bodies of interface descriptions.
    scratch: Vec<u8>,
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
    End,
}

impl PcapNg {
    /// Whether these are the first bytes of a pcapng file.
    pub(super) fn recognises(magic: [u8; 4]) -> bool {
        u32::from_le_bytes(magic) == BLOCK_SECTION
    }

    /// Reads the first section's header and on to the first interface description; the first four bytes have been
    /// read before.
    pub(super) fn open(source: &mut Source) -> Result<PcapNg, ErrorKind> {
        let mut this = PcapNg { order: ByteOrder::Little, interfaces: Vec::new(), scratch: Vec::new() };
        this.section(source)?;
        let mut unused = Vec::new();
        while this.interfaces.is_empty() {
            match this.step(source, &mut unused)? {
                Step::End => break,
                Step::Other | Step::Record(_) => {}
            }
        }
        Ok(this)
    }

    /// Link type and snapshot length of the section's first interface.
    pub(super) fn first_interface(&self) -> Option<(LinkType, u32)> {
        self.interfaces.first().map(|interface| (interface.linktype, interface.snaplen))
    }

    /// Reads on to the next packet, `None` at the end.
    pub(super) fn next(
        &mut self,
        source: &mut Source,
        buf: &mut Vec<u8>,
    ) -> Result<Option<Record>, ErrorKind> {
        loop {
            match self.step(source, buf)? {
                Step::Record(record) => return Ok(Some(record)),
                Step::Other => {}
                Step::End => return Ok(None),
            }
        }
    }

    /// Reads one block.
    fn step(&mut self, source: &mut Source, buf: &mut Vec<u8>) -> Result<Step, ErrorKind> {
        source.set_mark();
        let mut kind = [0; 4];
        if !source.fill_or_end(&mut kind)? {
            return Ok(Step::End);
        }
        let kind = self.order.u32(kind);
        if kind == BLOCK_SECTION {
            self.section(source)?;
            return Ok(Step::Other);
        }
        let mut length = [0; 4];
        source.fill_all(&mut length)?;
        let length = self.order.u32(length);
        let body_len = body_len(length)?;
        let step = match kind {
            BLOCK_INTERFACE => self.interface(source, body_len).map(|()| Step::Other),
            BLOCK_ENHANCED | BLOCK_PACKET => self.packet(source, body_len, kind, buf).map(Step::Record),
            BLOCK_SIMPLE => self.simple_packet(source, body_len, buf).map(Step::Record),
            _ => source.skip(u64::from(body_len)).map(|()| Step::Other),
        }?;
        self.block_end(source, length)?;
        Ok(step)
    }

    /// Reads a section header whose block type has been read; forgets the section before it.
    fn section(&mut self, source: &mut Source) -> Result<(), ErrorKind> {
        let mut header = [0; 12];
        source.fill_all(&mut header)?;
        self.order = if ByteOrder::Little.u32_at(&header, 4) == BYTE_ORDER_MAGIC {
            ByteOrder::Little
        } else if ByteOrder::Big.u32_at(&header, 4) == BYTE_ORDER_MAGIC {
            ByteOrder::Big
        } else {
            return Err(ErrorKind::Malformed { what: "the section header has no byte-order magic" });
        };
        let (major, minor) = (self.order.u16_at(&header, 8), self.order.u16_at(&header, 10));
        if major != 1 {
            return Err(ErrorKind::Version { major, minor });
        }
        let length = self.order.u32_at(&header, 0);
        let body_len = body_len(length)?;
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

    fn interface(&mut self, source: &mut Source, body_len: u32) -> Result<(), ErrorKind> {
        if body_len < 8 {
            return Err(ErrorKind::Malformed { what: "the interface description is too short" });
        }
        if body_len > INTERFACE_LEN_MAX {
            return Err(ErrorKind::Malformed { what: "the interface description is absurdly long" });
        }
        if self.interfaces.len() >= INTERFACES_MAX {
            return Err(ErrorKind::Malformed { what: "the section describes more than 65,536 interfaces" });
        }
        self.scratch.resize(body_len as usize, 0);
        source.fill_all(&mut self.scratch)?;
        self.interfaces.push(Interface {
            linktype: LinkType::from_code(u32::from(self.order.u16_at(&self.scratch, 0))),
            snaplen: self.order.u32_at(&self.scratch, 4),
            clock: Clock::from_options(self.order, &self.scratch[8..]),
        });
        Ok(())
    }

    /// Reads the body of an enhanced packet block or of the obsolete packet block: both have 20 bytes of header,
    /// and differ in how they name the interface.
    fn packet(
        &self,
        source: &mut Source,
        body_len: u32,
        kind: u32,
        buf: &mut Vec<u8>,
    ) -> Result<Record, ErrorKind> {
        let mut header = [0; 20];
        let Some(room) = body_len.checked_sub(20) else {
            return Err(ErrorKind::Malformed { what: "the packet block is too short" });
        };
        source.fill_all(&mut header)?;
        let order = self.order;
        let id = match kind {
            BLOCK_PACKET => u32::from(order.u16_at(&header, 0)),
            _ => order.u32_at(&header, 0),
        };
        let interface = self.interface_of(id)?;
        let ticks = u64::from(order.u32_at(&header, 4)) << 32 | u64::from(order.u32_at(&header, 8));
        let length = order.u32_at(&header, 12);
        self.data(source, length, room, buf)?;
        Ok(Record {
            time_ns: interface.clock.time_ns(ticks),
            orig_len: order.u32_at(&header, 16).max(length),
            linktype: interface.linktype,
            interface: 0,
        })
    }

    /// Reads the body of a simple packet block: no time, always the first interface, and the captured length
    /// follows from the block, the packet and the interface's snapshot length.
    fn simple_packet(
        &self,
        source: &mut Source,
        body_len: u32,
        buf: &mut Vec<u8>,
    ) -> Result<Record, ErrorKind> {
        let mut header = [0; 4];
        let Some(room) = body_len.checked_sub(4) else {
            return Err(ErrorKind::Malformed { what: "the simple packet block is too short" });
        };
        source.fill_all(&mut header)?;
        let orig_len = self.order.u32(header);
        let interface = self.interface_of(0)?;
        let snaplen = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
        self.data(source, orig_len.min(snaplen).min(room), room, buf)?;
        Ok(Record { time_ns: 0, orig_len, linktype: interface.linktype, interface: 0 })
    }

    fn interface_of(&self, id: u32) -> Result<Interface, ErrorKind> {
        let found = usize::try_from(id).ok().and_then(|id| self.interfaces.get(id)).copied();
        found.ok_or(ErrorKind::Malformed { what: "the packet's interface has not been described" })
    }

    /// Reads `length` bytes of packet and passes over the rest of the `room` bytes (padding and options).
    fn data(&self, source: &mut Source, length: u32, room: u32, buf: &mut Vec<u8>) -> Result<(), ErrorKind> {
        if length > RECORD_LEN_MAX {
            return Err(ErrorKind::RecordTooLong { length });
        }
        let Some(rest) = room.checked_sub(length) else {
            return Err(ErrorKind::Malformed { what: "the packet is longer than its block" });
        };
        buf.resize(length as usize, 0);
        source.fill_all(buf)?;
        source.skip(u64::from(rest))
    }
}

/// Bytes between the two lengths of a block with this total length.
fn body_len(length: u32) -> Result<u32, ErrorKind> {
    if !length.is_multiple_of(4) {
        return Err(ErrorKind::Malformed { what: "the block's length is not a multiple of four" });
    }
    if length > BLOCK_LEN_MAX {
        return Err(ErrorKind::Malformed { what: "the block is absurdly long (more than 16 MiB)" });
    }
    length
        .checked_sub(BLOCK_OVERHEAD)
        .ok_or(ErrorKind::Malformed { what: "the block is shorter than its frame" })
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
