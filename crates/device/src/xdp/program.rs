//! The programs that run in the kernel, and how they get there.

use crate::rule::{IPV4, IPV6, NEAR, Rule};
use std::ffi::c_long;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

// Operation codes of eBPF (RFC 9669).
const LOAD_8: u8 = 0x71;
const LOAD_16: u8 = 0x69;
const LOAD_32: u8 = 0x61;
const LOAD_MAP: u8 = 0x18;
const MOVE: u8 = 0xbf;
const MOVE_CONSTANT: u8 = 0xb7;
const ADD_CONSTANT: u8 = 0x07;
const ADD: u8 = 0x0f;
const SHIFT_LEFT_CONSTANT_32: u8 = 0x64;
const AND_CONSTANT_32: u8 = 0x54;
const JUMP_GREATER: u8 = 0x2d;
const JUMP_NOT_CONSTANT_32: u8 = 0x56;
const JUMP_IF_CONSTANT_32: u8 = 0x16;
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
        let mut body = test(rule);
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

/// Instructions that go on for frames of a rule, and jump for others to a place that is filled in later. Registers: 4 a place
/// in the frame, 5 a value, 7 the end of what is looked at.
fn test(rule: &Rule) -> Vec<u64> {
    let bounds = |place, end| {
        [
            instruction(MOVE, 7, place, 0, 0),
            instruction(ADD_CONSTANT, 7, 0, 0, end),
            instruction(JUMP_GREATER, 7, 3, 0, 0),
        ]
    };
    let must_be = |value: i32| instruction(JUMP_NOT_CONSTANT_32, 5, 0, 0, value);
    // Where the protocol, the TTL and the destination address are, and where an IP header without options ends.
    let (protocol, ttl, destination, end) = match rule.ether_type {
        IPV4 => (23, 22, 30, 34),
        IPV6 => (20, 21, 38, 54),
        _ => (0, 0, 0, 14),
    };
    let mut code = bounds(2, end).to_vec();
    code.extend([instruction(LOAD_16, 5, 2, 12, 0), must_be(i32::from(rule.ether_type.to_be()))]);
    for (i, (word, mask)) in rule.destination.iter().enumerate() {
        code.push(instruction(LOAD_32, 5, 2, destination + 4 * i as i16, 0));
        code.push(instruction(AND_CONSTANT_32, 5, 0, 0, mask.to_be() as i32));
        code.push(must_be(word.to_be() as i32));
    }
    if let Some(wanted) = rule.protocol {
        code.extend([instruction(LOAD_8, 5, 2, protocol, 0), must_be(wanted.into())]);
    }
    if rule.near {
        code.extend([
            instruction(LOAD_8, 5, 2, ttl, 0),
            instruction(JUMP_IF_CONSTANT_32, 5, 0, 1, NEAR[0].into()),
            must_be(NEAR[1].into()),
        ]);
    }
    if let Some(wanted) = rule.port {
        code.push(instruction(MOVE, 4, 2, 0, 0));
        if rule.ether_type == IPV4 {
            code.extend([
                // A fragment with an offset has no ports.
                instruction(LOAD_16, 5, 2, 20, 0),
                instruction(AND_CONSTANT_32, 5, 0, 0, 0x1fff_u16.to_be().into()),
                must_be(0),
                // Options may come before the ports: as many words as the header says, less those counted already.
                instruction(LOAD_8, 5, 2, 14, 0),
                instruction(AND_CONSTANT_32, 5, 0, 0, 0xf),
                instruction(SHIFT_LEFT_CONSTANT_32, 5, 0, 0, 2),
                instruction(ADD, 4, 5, 0, 0),
                instruction(ADD_CONSTANT, 4, 0, 0, 14),
            ]);
        } else {
            code.push(instruction(ADD_CONSTANT, 4, 0, 0, end));
        }
        code.extend(bounds(4, 4));
        code.extend([
            instruction(LOAD_16, 5, 4, 0, 0),
            instruction(JUMP_IF_CONSTANT_32, 5, 0, 2, wanted.to_be().into()),
            instruction(LOAD_16, 5, 4, 2, 0),
            must_be(wanted.to_be().into()),
        ]);
    }
    code
}

/// The program for AF_XDP: to the socket of the frame's queue, to the kernel if there is none. Control frames go to the kernel, where a
/// packet socket takes them.
fn to_sockets(left: &[Rule], control: &[Rule], map: &OwnedFd) -> Vec<u64> {
    let mut code = rules(&[left, control].concat(), [0, 4], XDP_PASS);
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

/// The program for packet sockets beside AF_XDP, which see control frames before it: the kernel itself does not get these.
fn not_control(left: &[Rule], control: &[Rule]) -> Vec<u64> {
    let mut code = rules(left, [76, 80], TCX_NEXT);
    code.extend(rules(control, [76, 80], TCX_DROP));
    code.extend([instruction(MOVE_CONSTANT, 0, 0, 0, TCX_NEXT), instruction(EXIT, 0, 0, 0, 0)]);
    code
}

// Commands and types of bpf(2).
const MAP_CREATE: c_long = 0;
const MAP_UPDATE: c_long = 2;
const MAP_DELETE: c_long = 3;
const PROGRAM_LOAD: c_long = 5;
const OBJECT_INFO: c_long = 15;
const LINK_CREATE: c_long = 28;
/// Words of what is asked of a link (`bpf_link_info`), and the one with the interface's number, 0 if that is gone.
const LINK_INFO_WORDS: usize = 16;
const LINK_INFO_INTERFACE: usize = 4;
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
    unsafe fn call(&mut self, command: c_long) -> io::Result<i32> {
        // SAFETY: the kernel reads and writes no more than the given size of the argument, and what the caller answers for.
        let result = unsafe {
            libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(self), size_of::<Argument>() as c_long)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
    }

    /// The same for commands that make a descriptor.
    ///
    /// # Safety
    /// As [`Argument::call`].
    unsafe fn open(&mut self, command: c_long) -> io::Result<OwnedFd> {
        // SAFETY: the caller answers for the pointers; the descriptor was just made and has no other owner.
        unsafe { Ok(OwnedFd::from_raw_fd(self.call(command)?)) }
    }
}

fn load(kind: u32, attach: u32, code: &[u64]) -> io::Result<OwnedFd> {
    let licence = c"Dual MIT/GPL";
    let mut argument = Argument::new(
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
    link: OwnedFd,
    /// Dropped, the kernel gets control frames again.
    control_link: Option<OwnedFd>,
    /// Whether the driver runs the program, and not the kernel behind it.
    pub(crate) native: bool,
}

impl Grip {
    /// Puts the program onto an interface with so many queues: into the driver if that can, behind it otherwise. Frames that the rules of
    /// `control` are about reach packet sockets only, if the kernel can do that (6.6 or later), and the other sockets if not.
    pub(crate) fn take(interface: i32, queues: u32, left: &[Rule], control: &[Rule]) -> io::Result<Grip> {
        let keep = || {
            let program = load(PROGRAM_CLASSIFIER, ATTACH_TCX_INGRESS, &not_control(left, control)).ok()?;
            attach(&program, interface, ATTACH_TCX_INGRESS, 0).ok()
        };
        let kept = if control.is_empty() { None } else { keep() };
        let control = if kept.is_some() { control } else { &[] };
        let fields = [(0, MAP_OF_SOCKETS), (1, 4), (2, 4), (3, queues)];
        // SAFETY: no pointers.
        let map = unsafe { Argument::new(&fields, &[]).open(MAP_CREATE) }?;
        let program = load(PROGRAM_XDP, ATTACH_XDP, &to_sockets(left, control, &map))?;
        match attach(&program, interface, ATTACH_XDP, FLAG_NATIVE) {
            Ok(link) => Ok(Grip { map, link, control_link: kept, native: true }),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Err(error),
            Err(_) => {
                let link = attach(&program, interface, ATTACH_XDP, FLAG_GENERIC)?;
                Ok(Grip { map, link, control_link: kept, native: false })
            }
        }
    }

    /// Whether the program is still on the interface of this number. One that left and came back under its number has lost it.
    pub(crate) fn is_on(&self, interface: i32) -> bool {
        let mut info = [0u32; LINK_INFO_WORDS];
        let fields = [(0, self.link.as_raw_fd() as u32), (1, size_of_val(&info) as u32)];
        // SAFETY: the kernel writes no more bytes than there are.
        let asked = unsafe { Argument::new(&fields, &[(2, info.as_mut_ptr() as u64)]).call(OBJECT_INFO) };
        asked.is_err() || info[LINK_INFO_INTERFACE] == interface as u32
    }

    /// Whether control frames reach packet sockets only.
    pub(crate) fn leaves_control(&self) -> bool {
        self.control_link.is_some()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::tests::{frame, is_left, sets};

    /// Runs a program on a frame.
    fn run(program: &OwnedFd, frame: &[u8]) -> io::Result<i32> {
        const PROGRAM_TEST: c_long = 10;
        let fields = [(0, program.as_raw_fd() as u32), (2, frame.len() as u32), (8, 1)];
        let mut argument = Argument::new(&fields, &[(4, frame.as_ptr() as u64)]);
        let (argument_ptr, len) = (std::ptr::from_mut(&mut argument), size_of::<Argument>() as c_long);
        // SAFETY: the kernel reads the frame, which outlives the call, and writes its answer into the argument.
        let result = unsafe { libc::syscall(libc::SYS_bpf, PROGRAM_TEST, argument_ptr, len) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(argument.0[1] as i32) }
    }

    /// The kernel's verifier accepts what is put together here, and the programs do what the rules say.
    #[test]
    fn programs_do_what_rules_say() {
        let sets = sets();
        let mut rng = fastrand::Rng::with_seed(6);
        let mut seen = [0; 2];
        for set in sets {
            let program = match load(PROGRAM_CLASSIFIER, ATTACH_TCX_INGRESS, &to_nobody(&set)) {
                Ok(program) => program,
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                    return println!("skipped: loading programs into the kernel needs root");
                }
                Err(error) => panic!("{set:?}: {error}"),
            };
            for _ in 0..4000 {
                let frame = frame(&mut rng);
                let left = is_left(&set, &frame);
                seen[usize::from(left)] += 1;
                let expected = if left { TCX_NEXT } else { TCX_DROP };
                match run(&program, &frame) {
                    Ok(said) => assert_eq!(said, expected, "{set:?}: {frame:02x?}"),
                    // The kernel tries no IP packet without a whole header.
                    Err(_) if frame.len() < 54 && matches!(frame[12..14], [0x08, 0x00] | [0x86, 0xdd]) => {}
                    Err(error) => panic!("{error}: {frame:02x?}"),
                }
            }
            let all = crate::control::rules();
            load(PROGRAM_CLASSIFIER, ATTACH_TCX_INGRESS, &not_control(&set, &all)).expect("a program");
        }
        assert!(seen[0] > 1000 && seen[1] > 1000, "{seen:?}");
    }
}
