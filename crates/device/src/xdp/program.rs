//! The programs that run in the kernel, and how they get there.

use std::ffi::c_long;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// What is left to the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    ether_type: u16,
    /// Where the address is in the frame, and its first 4-byte words with their masks, in network order.
    address: Option<(i16, Vec<(u32, u32)>)>,
}

impl Rule {
    /// All frames of an EtherType.
    pub fn ether_type(ether_type: u16) -> Rule {
        Rule { ether_type, address: None }
    }

    /// All IP packets to a prefix.
    pub fn destination(address: IpAddr, prefix_len: u8) -> Rule {
        let (ether_type, offset, bytes) = match address {
            IpAddr::V4(address) => (0x0800, 14 + 16, address.octets().to_vec()),
            IpAddr::V6(address) => (0x86dd, 14 + 24, address.octets().to_vec()),
        };
        let words = bytes.chunks_exact(4).enumerate().map(|(i, word)| {
            let bits = u32::from(prefix_len).saturating_sub(32 * i as u32).min(32);
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            (u32::from_be_bytes([word[0], word[1], word[2], word[3]]) & mask, mask)
        });
        let words = words.filter(|&(_, mask)| mask != 0).collect();
        Rule { ether_type, address: Some((offset, words)) }
    }
}

// Operation codes of eBPF (RFC 9669).
const LOAD_16: u8 = 0x69;
const LOAD_32: u8 = 0x61;
const LOAD_MAP: u8 = 0x18;
const MOVE: u8 = 0xbf;
const MOVE_CONSTANT: u8 = 0xb7;
const ADD_CONSTANT: u8 = 0x07;
const AND_CONSTANT_32: u8 = 0x54;
const JUMP_GREATER: u8 = 0x2d;
const JUMP_NOT_CONSTANT_32: u8 = 0x56;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// The helper function that hands a frame to the socket in a map.
const REDIRECT_MAP: i32 = 51;

const XDP_PASS: i32 = 2;
const TCX_NEXT: i32 = -1;
const TCX_DROP: i32 = 2;

fn instruction(code: u8, to: u8, from: u8, offset: i16, constant: i32) -> u64 {
    let registers = u64::from(from) << 4 | u64::from(to);
    u64::from(code) | registers << 8 | u64::from(offset as u16) << 16 | u64::from(constant as u32) << 32
}

/// Instructions that return `pass` for frames that a rule leaves to the kernel and go on otherwise. `data` is where the
/// context says where the frame begins and ends. Registers: 6 context, 2 frame, 3 its end.
fn rules(rules: &[Rule], data: [i16; 2], pass: i32) -> Vec<u64> {
    let mut code = vec![
        instruction(MOVE, 6, 1, 0, 0),
        instruction(LOAD_32, 2, 6, data[0], 0),
        instruction(LOAD_32, 3, 6, data[1], 0),
    ];
    for rule in rules {
        let (offset, words) = rule.address.as_ref().map_or((0, &[][..]), |(at, words)| (*at, words));
        let end = 14.max(i32::from(offset) + 4 * words.len() as i32);
        let mut body = vec![
            instruction(MOVE, 4, 2, 0, 0),
            instruction(ADD_CONSTANT, 4, 0, 0, end),
            instruction(JUMP_GREATER, 4, 3, 0, 0),
            instruction(LOAD_16, 5, 2, 12, 0),
            instruction(JUMP_NOT_CONSTANT_32, 5, 0, 0, i32::from(rule.ether_type.to_be())),
        ];
        for (i, (word, mask)) in words.iter().enumerate() {
            body.push(instruction(LOAD_32, 5, 2, offset + 4 * i as i16, 0));
            body.push(instruction(AND_CONSTANT_32, 5, 0, 0, mask.to_be() as i32));
            body.push(instruction(JUMP_NOT_CONSTANT_32, 5, 0, 0, word.to_be() as i32));
        }
        body.push(instruction(MOVE_CONSTANT, 0, 0, 0, pass));
        body.push(instruction(EXIT, 0, 0, 0, 0));
        // What does not match goes on behind the rule.
        let len = body.len();
        for (i, code) in body.iter_mut().enumerate() {
            if matches!(*code as u8, JUMP_GREATER | JUMP_NOT_CONSTANT_32) {
                *code |= ((len - i - 1) as u64) << 16;
            }
        }
        code.extend(body);
    }
    code
}

/// The program for AF_XDP: to the socket of the frame's queue, to the kernel if there is none.
fn to_sockets(left: &[Rule], map: &OwnedFd) -> Vec<u64> {
    let mut code = rules(left, [0, 4], XDP_PASS);
    code.extend([
        instruction(LOAD_MAP, 1, 1, 0, map.as_raw_fd()), // "from" register 1: the constant is a map's descriptor
        0,
        instruction(LOAD_32, 2, 6, 16, 0),
        instruction(MOVE_CONSTANT, 3, 0, 0, XDP_PASS),
        instruction(CALL, 0, 0, 0, REDIRECT_MAP),
        instruction(EXIT, 0, 0, 0, 0),
    ]);
    code
}

/// The program for packet sockets, which see a frame before it: the kernel itself gets nothing.
fn to_nobody(left: &[Rule]) -> Vec<u64> {
    let mut code = rules(left, [76, 80], TCX_NEXT);
    code.extend([instruction(MOVE_CONSTANT, 0, 0, 0, TCX_DROP), instruction(EXIT, 0, 0, 0, 0)]);
    code
}

// Commands and types of bpf(2).
const MAP_CREATE: c_long = 0;
const MAP_UPDATE: c_long = 2;
const MAP_DELETE: c_long = 3;
const PROGRAM_LOAD: c_long = 5;
const LINK_CREATE: c_long = 28;
const MAP_OF_SOCKETS: u32 = 17;
const PROGRAM_CLASSIFIER: u32 = 3;
const PROGRAM_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const ATTACH_TCX_INGRESS: u32 = 46;
const FLAG_GENERIC: u32 = 1 << 1;
const FLAG_NATIVE: u32 = 1 << 2;

/// The argument of bpf(2): fields of 32 bits, some of them pairs.
#[repr(align(8))]
struct Argument([u32; 32]);

impl Argument {
    fn new(fields: &[(usize, u32)], pairs: &[(usize, u64)]) -> Argument {
        let mut argument = Argument([0; 32]);
        fields.iter().for_each(|&(at, value)| argument.0[at] = value);
        for &(at, value) in pairs {
            let bytes = value.to_ne_bytes();
            for (half, bytes) in argument.0[at..at + 2].iter_mut().zip(bytes.chunks_exact(4)) {
                *half = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
        }
        argument
    }

    /// Calls bpf(2).
    ///
    /// # Safety
    /// Fields that the command takes for pointers must point to what it reads there.
    unsafe fn call(&self, command: c_long) -> io::Result<i32> {
        // SAFETY: the kernel reads no more than the given size of the argument, and what the caller answers for.
        let result = unsafe {
            libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(self), size_of::<Argument>() as c_long)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
    }

    /// The same for commands that make a descriptor.
    ///
    /// # Safety
    /// As [`Argument::call`].
    unsafe fn open(&self, command: c_long) -> io::Result<OwnedFd> {
        // SAFETY: the caller answers for the pointers; the descriptor was just made and is nobody else's.
        unsafe { Ok(OwnedFd::from_raw_fd(self.call(command)?)) }
    }
}

fn load(kind: u32, attach: u32, code: &[u64]) -> io::Result<OwnedFd> {
    let licence = c"Dual MIT/GPL";
    let argument = Argument::new(
        &[(0, kind), (1, code.len() as u32), (17, attach)],
        &[(2, code.as_ptr() as u64), (4, licence.as_ptr() as u64)],
    );
    // SAFETY: the instructions and the licence outlive the call.
    unsafe { argument.open(PROGRAM_LOAD) }
}

fn attach(program: &OwnedFd, interface: i32, to: u32, flags: u32) -> io::Result<OwnedFd> {
    let fields = [(0, program.as_raw_fd() as u32), (1, interface as u32), (2, to), (3, flags)];
    // SAFETY: no pointers.
    unsafe { Argument::new(&fields, &[]).open(LINK_CREATE) }
}

/// A program's hold on an interface. Dropping it gives the frames back to the kernel.
pub(crate) struct Grip {
    map: OwnedFd,
    /// Dropped, it takes the program away.
    _link: OwnedFd,
    /// Whether the driver runs the program, and not the kernel behind it.
    pub(crate) native: bool,
}

impl Grip {
    /// Puts the program onto an interface with so many queues: into the driver if that can, behind it otherwise.
    pub(crate) fn take(interface: i32, queues: u32, left: &[Rule]) -> io::Result<Grip> {
        let fields = [(0, MAP_OF_SOCKETS), (1, 4), (2, 4), (3, queues)];
        // SAFETY: no pointers.
        let map = unsafe { Argument::new(&fields, &[]).open(MAP_CREATE) }?;
        let program = load(PROGRAM_XDP, ATTACH_XDP, &to_sockets(left, &map))?;
        match attach(&program, interface, ATTACH_XDP, FLAG_NATIVE) {
            Ok(link) => Ok(Grip { map, _link: link, native: true }),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Err(error),
            Err(_) => {
                let link = attach(&program, interface, ATTACH_XDP, FLAG_GENERIC)?;
                Ok(Grip { map, _link: link, native: false })
            }
        }
    }

    /// Hands the frames of a queue to a socket.
    pub(crate) fn set(&self, queue: u32, socket: &OwnedFd) -> io::Result<()> {
        let value = socket.as_raw_fd();
        let pairs = [(2, std::ptr::from_ref(&queue) as u64), (4, std::ptr::from_ref(&value) as u64)];
        // SAFETY: key and value have the 4 bytes that the map was made for, and outlive the call.
        unsafe { Argument::new(&[(0, self.map.as_raw_fd() as u32)], &pairs).call(MAP_UPDATE) }?;
        Ok(())
    }

    /// Gives the frames of a queue back to the kernel.
    pub(crate) fn clear(&self, queue: u32) {
        let pairs = [(2, std::ptr::from_ref(&queue) as u64)];
        // SAFETY: as in `set`. Nothing is to be done about a failure: there was no socket then.
        let _ = unsafe { Argument::new(&[(0, self.map.as_raw_fd() as u32)], &pairs).call(MAP_DELETE) };
    }
}

/// Keeps the frames of an interface from the kernel, except those that the rules leave to it, for as long as the result
/// lives. Packet sockets receive them all the same.
pub(crate) fn take_from_kernel(interface: i32, left: &[Rule]) -> io::Result<OwnedFd> {
    let program = load(PROGRAM_CLASSIFIER, ATTACH_TCX_INGRESS, &to_nobody(left))?;
    attach(&program, interface, ATTACH_TCX_INGRESS, 0)
}
