//! Filters in front of packet sockets: classic BPF programs, which the kernel runs on each frame.
//!
//! A load beyond a frame's end would end the program and refuse the frame, so each is behind a look at the length.

use crate::rule::{IPV4, IPV6, NEAR, Rule};
use crate::sys;
use libc::{
    BPF_ABS, BPF_ADD, BPF_ALU, BPF_AND, BPF_B, BPF_H, BPF_IND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP,
    BPF_JSET, BPF_K, BPF_LD, BPF_LDX, BPF_LEN, BPF_MISC, BPF_MSH, BPF_RET, BPF_TAX, BPF_TXA, BPF_W, BPF_X,
    sock_filter,
};
use std::io;
use std::os::fd::OwnedFd;

/// What a program returns for a frame: all of it, or nothing.
const ALL: u32 = u32::MAX;
const NONE: u32 = 0;
/// A jump whose end is not known yet.
const OPEN: u32 = u32::MAX;

/// Which frames a socket gets.
pub(super) enum Wanted<'a> {
    /// Those that no rule is about.
    Others(&'a [Rule]),
    /// Those that a rule is about, but none of the second ones.
    These(&'a [Rule], &'a [Rule]),
}

/// An instruction.
fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

/// Puts a program in front of a socket.
fn attach(fd: &OwnedFd, program: &mut [sock_filter]) -> io::Result<()> {
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    sys::set_option(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
}

/// Lets nothing into a socket.
pub(super) fn close(fd: &OwnedFd) -> io::Result<()> {
    attach(fd, &mut [instruction(BPF_RET | BPF_K, 0, 0, NONE)])
}

/// Lets everything into a socket, until a program is put in front of it.
pub(super) fn lift(fd: &OwnedFd) -> io::Result<()> {
    match sys::set_option(fd, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0i32) {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()), // there is none
        done => done,
    }
}

/// Where frames come from, which a socket gets: from a queue, or from any; and how long those may be that are not to be cut.
pub(super) type Limits = (Option<u16>, Option<usize>);

/// Lets into a socket what is wanted within the limits.
pub(super) fn open(fd: &OwnedFd, limits: Limits, wanted: Option<Wanted<'_>>) -> io::Result<()> {
    match (limits, wanted) {
        ((None, None), None) => lift(fd),
        (limits, wanted) => attach(fd, &mut program(limits, wanted)),
    }
}

/// The program for that.
fn program((queue, longest): Limits, wanted: Option<Wanted<'_>>) -> Vec<sock_filter> {
    let mut code = Code(Vec::new());
    queue.into_iter().for_each(|queue| code.only_queue(queue));
    longest.into_iter().for_each(|longest| code.no_long_sctp(longest));
    let otherwise = match wanted {
        None => ALL,
        Some(Wanted::Others(rules)) => {
            code.returns(rules, NONE);
            ALL
        }
        Some(Wanted::These(rules, but)) => {
            code.returns(but, NONE);
            code.returns(rules, ALL);
            NONE
        }
    };
    code.put(BPF_RET | BPF_K, otherwise);
    code.0
}

/// A program as it grows.
struct Code(Vec<sock_filter>);

impl Code {
    fn put(&mut self, code: u32, k: u32) {
        self.0.push(instruction(code, 0, 0, k));
    }

    /// Goes on if the comparison holds, and leaves what is tested otherwise.
    fn must(&mut self, comparison: u32, k: u32) {
        self.0.push(instruction(BPF_JMP | comparison, 1, 0, k));
        self.put(BPF_JMP | BPF_JA, OPEN);
    }

    fn must_not(&mut self, comparison: u32, k: u32) {
        self.0.push(instruction(BPF_JMP | comparison, 0, 1, k));
        self.put(BPF_JMP | BPF_JA, OPEN);
    }

    /// What leaves the test that began there goes on here.
    fn end(&mut self, begin: usize) {
        let len = self.0.len();
        for (at, instruction) in self.0.iter_mut().enumerate().skip(begin) {
            if instruction.code == (BPF_JMP | BPF_JA) as u16 && instruction.k == OPEN {
                instruction.k = (len - at - 1) as u32;
            }
        }
    }

    /// Refuses what did not arrive at a queue; what the kernel stores is the number plus one, or zero if the driver did not say.
    fn only_queue(&mut self, queue: u16) {
        let not_said = if queue == 0 { 0 } else { u32::from(queue) + 1 };
        self.put(BPF_LD | BPF_W | BPF_ABS, (libc::SKF_AD_OFF + libc::SKF_AD_QUEUE) as u32);
        self.0.push(instruction(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, u32::from(queue) + 1));
        self.0.push(instruction(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, not_said));
        self.put(BPF_RET | BPF_K, NONE);
    }

    /// Refuses long segments of SCTP: Linux has no note for them, and its ring would be stuck.
    fn no_long_sctp(&mut self, longest: usize) {
        for (ether_type, protocol) in [(IPV4, 23), (IPV6, 20)] {
            let begin = self.0.len();
            self.put(BPF_LD | BPF_W | BPF_LEN, 0);
            self.must(BPF_JGT, longest.max(54) as u32);
            self.put(BPF_LD | BPF_H | BPF_ABS, 12);
            self.must(BPF_JEQ, u32::from(ether_type));
            self.put(BPF_LD | BPF_B | BPF_ABS, protocol);
            self.must(BPF_JEQ, libc::IPPROTO_SCTP as u32);
            self.put(BPF_RET | BPF_K, NONE);
            self.end(begin);
        }
    }

    /// Returns a value for frames that a rule is about, and goes on for others. Frames of other EtherTypes see one comparison for each
    /// EtherType that rules name.
    fn returns(&mut self, rules: &[Rule], value: u32) {
        let mut done: Vec<u16> = Vec::new();
        for Rule { ether_type, .. } in rules {
            if done.contains(ether_type) {
                continue;
            }
            done.push(*ether_type);
            let begin = self.0.len();
            let end = match *ether_type {
                IPV4 => 34,
                IPV6 => 54,
                _ => 14,
            };
            self.put(BPF_LD | BPF_W | BPF_LEN, 0);
            self.must(BPF_JGE, end);
            self.put(BPF_LD | BPF_H | BPF_ABS, 12);
            self.must(BPF_JEQ, u32::from(*ether_type));
            for rule in rules.iter().filter(|rule| rule.ether_type == *ether_type) {
                let begin = self.0.len();
                self.test(rule);
                self.put(BPF_RET | BPF_K, value);
                self.end(begin);
            }
            self.end(begin);
        }
    }

    /// Goes on for frames of a rule, whose EtherType and length are looked at already.
    fn test(&mut self, rule: &Rule) {
        let (protocol, ttl, destination) = if rule.ether_type == IPV4 { (23, 22, 30) } else { (20, 21, 38) };
        for (i, (word, mask)) in rule.destination.iter().enumerate() {
            self.put(BPF_LD | BPF_W | BPF_ABS, destination + 4 * i as u32);
            self.put(BPF_ALU | BPF_AND | BPF_K, *mask);
            self.must(BPF_JEQ, *word);
        }
        if let Some(wanted) = rule.protocol {
            self.put(BPF_LD | BPF_B | BPF_ABS, protocol);
            self.must(BPF_JEQ, wanted.into());
        }
        if rule.near {
            self.put(BPF_LD | BPF_B | BPF_ABS, ttl);
            self.0.push(instruction(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, NEAR[0].into()));
            self.must(BPF_JEQ, NEAR[1].into());
        }
        if let Some(port) = rule.port {
            self.test_port(rule.ether_type == IPV4, port);
        }
    }

    fn test_port(&mut self, is_ipv4: bool, port: u16) {
        let place = if is_ipv4 {
            // A fragment with an offset has no ports.
            self.put(BPF_LD | BPF_H | BPF_ABS, 20);
            self.must_not(BPF_JSET, 0x1fff);
            // Options may come before the ports.
            self.put(BPF_LDX | BPF_B | BPF_MSH, 14);
            self.put(BPF_MISC | BPF_TXA, 0);
            self.put(BPF_ALU | BPF_ADD | BPF_K, 14 + 4);
            self.put(BPF_MISC | BPF_TAX, 0);
            self.put(BPF_LD | BPF_W | BPF_LEN, 0);
            self.must(BPF_JGE | BPF_X, 0);
            self.put(BPF_LDX | BPF_B | BPF_MSH, 14);
            (BPF_IND, 14)
        } else {
            self.put(BPF_LD | BPF_W | BPF_LEN, 0);
            self.must(BPF_JGE, 54 + 4);
            (BPF_ABS, 54)
        };
        self.put(BPF_LD | BPF_H | place.0, place.1);
        self.0.push(instruction(BPF_JMP | BPF_JEQ | BPF_K, 3, 0, port.into()));
        self.put(BPF_LD | BPF_H | place.0, place.1 + 2);
        self.must(BPF_JEQ, port.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::tests::{frame, is_left, sets};

    /// What a program returns for a frame, as the kernel would say.
    fn run(program: &[sock_filter], frame: &[u8]) -> u32 {
        let load = |at: usize, len: usize| {
            let bytes = frame.get(at..at + len)?;
            Some(bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)))
        };
        let (mut a, mut x, mut at) = (0u32, 0u32, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            let code = u32::from(code);
            let loaded = match code {
                _ if code == BPF_LD | BPF_W | BPF_LEN => Some(frame.len() as u32),
                _ if code == BPF_LD | BPF_W | BPF_ABS => load(k as usize, 4),
                _ if code == BPF_LD | BPF_H | BPF_ABS => load(k as usize, 2),
                _ if code == BPF_LD | BPF_B | BPF_ABS => load(k as usize, 1),
                _ if code == BPF_LD | BPF_H | BPF_IND => load((k + x) as usize, 2),
                _ if code == BPF_LDX | BPF_B | BPF_MSH => {
                    let Some(byte) = load(k as usize, 1) else { return NONE };
                    x = (byte & 0xf) * 4;
                    Some(a)
                }
                _ if code == BPF_MISC | BPF_TXA => Some(x),
                _ if code == BPF_MISC | BPF_TAX => {
                    x = a;
                    Some(a)
                }
                _ if code == BPF_ALU | BPF_AND | BPF_K => Some(a & k),
                _ if code == BPF_ALU | BPF_ADD | BPF_K => Some(a + k),
                _ if code == BPF_RET | BPF_K => return k,
                _ if code == BPF_JMP | BPF_JA => {
                    at += k as usize;
                    Some(a)
                }
                _ => {
                    let holds = match code & !BPF_JMP {
                        comparison if comparison == BPF_JEQ => a == k,
                        comparison if comparison == BPF_JGE => a >= k,
                        comparison if comparison == BPF_JGT => a > k,
                        comparison if comparison == BPF_JGE | BPF_X => a >= x,
                        comparison if comparison == BPF_JSET => a & k != 0,
                        _ => panic!("instruction {code:#x}"),
                    };
                    at += usize::from(if holds { jt } else { jf });
                    Some(a)
                }
            };
            match loaded {
                Some(value) => a = value,
                None => return NONE, // as a load beyond the end
            }
        }
    }

    /// Two sockets divide all frames between them, also short ones: each goes to one, as the rules say.
    #[test]
    fn programs_divide_frames() {
        let mut rng = fastrand::Rng::with_seed(8);
        let mut seen = [0; 2];
        for set in sets() {
            let others = program((None, None), Some(Wanted::Others(&set)));
            let these = program((None, None), Some(Wanted::These(&set, &[])));
            for _ in 0..4000 {
                let mut frame = frame(&mut rng);
                frame.truncate(if rng.u8(0..4) == 0 { rng.usize(0..90) } else { 90 });
                let is_this = frame.len() >= 14 && is_left(&set, &frame);
                seen[usize::from(is_this)] += 1;
                assert_eq!(run(&these, &frame) == ALL, is_this, "{set:?}: {frame:02x?}");
                assert_eq!(run(&others, &frame) == ALL, !is_this, "{set:?}: {frame:02x?}");
            }
        }
        assert!(seen[0] > 1000 && seen[1] > 1000, "{seen:?}");
    }

    /// Long segments of SCTP stay away, and nothing else does.
    #[test]
    fn long_sctp_does_not_come() {
        let program = program((None, Some(1522)), None);
        let frame = |ether_type: u16, protocol: u8, len: usize| {
            let mut frame = vec![0; len];
            frame[12..14].copy_from_slice(&ether_type.to_be_bytes());
            frame[if ether_type == IPV4 { 23 } else { 20 }] = protocol;
            frame
        };
        for ether_type in [IPV4, IPV6, 0x0806] {
            for protocol in [6, 17, 132, 1] {
                for (len, is_long) in [(60, false), (1522, false), (1523, true), (60_000, true)] {
                    let stays = is_long && protocol == 132 && ether_type != 0x0806;
                    let come = if stays { NONE } else { ALL };
                    assert_eq!(run(&program, &frame(ether_type, protocol, len)), come, "{protocol}, {len}");
                }
            }
        }
        assert_eq!(run(&program, &[0; 14]), ALL);
    }

    /// What is left to the kernel does not come, although it is control.
    #[test]
    fn what_is_left_out_does_not_come() {
        let (arp, all) = ([Rule::ether_type(0x0806)], crate::control::rules());
        let program = program((None, None), Some(Wanted::These(&all, &arp)));
        let frame = |ether_type: [u8; 2]| [&[0; 12][..], &ether_type, &[0; 46]].concat();
        assert_eq!(run(&program, &frame([0x08, 0x06])), NONE);
        assert_eq!(run(&program, &frame([0x88, 0xcc])), ALL);
    }

    /// The kernel takes the programs, and none is longer than it allows.
    #[test]
    fn the_kernel_takes_programs() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let socket = OwnedFd::from(socket);
        for set in sets() {
            for queue in [None, Some(0), Some(3)] {
                open(&socket, (queue, Some(1522)), Some(Wanted::Others(&set))).expect("a filter");
                open(&socket, (queue, Some(1522)), Some(Wanted::These(&set, &set))).expect("a filter");
            }
        }
        close(&socket).expect("a filter");
        open(&socket, (None, None), None).expect("no filter");
    }
}
