//! What the kernel is told and asked.

use super::*;
use elements_shared::ipsec_port::{Mode, Selector, Template, Usage};
use std::net::IpAddr;

const REQUEST: u16 = 1;
const REPLACE: u16 = 0x100;
const DUMP: u16 = 0x300;

fn family(address: IpAddr) -> u16 {
    if address.is_ipv4() { AF_INET } else { AF_INET6 }
}

/// A structure of so many octets, which are set in places.
struct Body(Vec<u8>);

impl Body {
    fn new(len: usize) -> Body {
        Body(vec![0; len])
    }

    fn set(&mut self, at: usize, octets: &[u8]) -> &mut Body {
        if let Some(place) = self.0.get_mut(at..at + octets.len()) {
            place.copy_from_slice(octets);
        }
        self
    }

    fn address(&mut self, at: usize, address: IpAddr) -> &mut Body {
        match address {
            IpAddr::V4(address) => self.set(at, &address.octets()),
            IpAddr::V6(address) => self.set(at, &address.octets()),
        }
    }

    fn selector(&mut self, at: usize, of: &Selector) -> &mut Body {
        self.address(at, of.destination.address).address(at + 16, of.source.address);
        for (place, (value, mask)) in [(32, of.destination_port), (36, of.source_port)] {
            self.set(at + place, &value.to_be_bytes()).set(at + place + 2, &mask.to_be_bytes());
        }
        self.set(at + 40, &family(of.source.address).to_ne_bytes());
        self.set(at + 42, &[of.destination.len, of.source.len, of.protocol])
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) -> &mut Body {
        self.0.extend((4 + value.len() as u16).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    fn message(&self, kind: u16, flags: u16) -> Vec<u8> {
        self.numbered(kind, flags, 0)
    }

    /// A message whose answers have a number.
    fn numbered(&self, kind: u16, flags: u16, sequence: u32) -> Vec<u8> {
        let mut message = ((HEADER + self.0.len()) as u32).to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend(sequence.to_ne_bytes());
        message.extend([0; 4]);
        message.extend(&self.0);
        message
    }
}

/// A message that asks for everything of a kind: [`GETSA`] or [`GETPOLICY`].
pub(crate) fn get_all(kind: u16, sequence: u32) -> Vec<u8> {
    // `struct xfrm_usersa_id`, `struct xfrm_userpolicy_id`
    Body::new(if kind == GETSA { 24 } else { 64 }).numbered(kind, REQUEST | DUMP, sequence)
}

/// How the kernel keeps the sequence numbers of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Words of its bitmap, if that is of variable length.
    pub(crate) bitmap: Option<u32>,
    pub(crate) window: u32,
    /// When the association was made, in seconds since the epoch.
    pub(crate) made: u64,
}

/// Tells what an association has done (`XFRM_MSG_NEWAE`): packets and octets, and the sequence numbers with which its next user must go on.
/// All numbers in the window count as come.
pub(crate) fn usage(of: &Usage, numbers: Numbers) -> Vec<u8> {
    let mut body = Body::new(48); // `struct xfrm_aevent_id`
    body.address(0, of.destination).set(16, &of.spi.to_be_bytes());
    body.set(20, &family(of.destination).to_ne_bytes()).set(22, &[ESP]);
    let used = of.used_ns / 1_000_000_000;
    let lifetime = [of.bytes, of.packets, numbers.made, used].map(u64::to_ne_bytes).concat();
    body.attribute(LTIME_VAL, &lifetime);
    let (sent, received) = (of.sent, of.received);
    match numbers.bitmap {
        None => {
            let state = [sent as u32, received as u32, u32::MAX].map(u32::to_ne_bytes).concat();
            body.attribute(REPLAY_VAL, &state);
        }
        Some(words) => {
            let (sent_high, received_high) = ((sent >> 32) as u32, (received >> 32) as u32);
            let state = [words, sent as u32, received as u32, sent_high, received_high, numbers.window];
            let mut state = state.map(u32::to_ne_bytes).concat();
            state.resize(state.len() + 4 * words.min(128) as usize, 0xff);
            body.attribute(REPLAY_ESN_VAL, &state);
        }
    }
    body.message(NEWAE, REQUEST | REPLACE)
}

/// Tells that an association has reached a limit, which the kernel tells its daemon (`XFRM_MSG_EXPIRE`).
pub(crate) fn expire(destination: IpAddr, spi: u32, hard: bool) -> Vec<u8> {
    let mut body = Body::new(SA_INFO + 8);
    body.address(56, destination).set(72, &spi.to_be_bytes()).set(76, &[ESP]);
    body.set(212, &family(destination).to_ne_bytes()).set(SA_INFO, &[u8::from(hard)]);
    body.message(EXPIRE, REQUEST)
}

/// Tells that a packet needs an association that is not there (`XFRM_MSG_ACQUIRE`).
pub(crate) fn acquire(template: &Template, packet: &Selector, policy: &Selector, priority: u32) -> Vec<u8> {
    const ALL: [u8; 4] = [0xff; 4];
    const POLICY_AT: usize = 96;
    let mut body = Body::new(280); // `struct xfrm_user_acquire`
    body.address(0, template.destination).set(20, &[ESP]).address(24, template.source);
    body.selector(40, packet).selector(POLICY_AT, policy);
    for limit in 0..4 {
        body.set(POLICY_AT + 56 + 8 * limit, &[0xff; 8]);
    }
    body.set(POLICY_AT + 152, &priority.to_ne_bytes()).set(POLICY_AT + 160, &[1, 0]);
    body.set(264, &[ALL, ALL, ALL].concat());
    let mut wanted = Body::new(TEMPLATE);
    wanted.address(0, template.destination).set(20, &[ESP]);
    wanted.set(24, &family(template.destination).to_ne_bytes()).address(28, template.source);
    wanted.set(44, &template.reqid.to_ne_bytes()).set(48, &[u8::from(template.mode == Mode::Tunnel)]);
    wanted.set(52, &[ALL, ALL, ALL].concat());
    body.attribute(TMPL, &wanted.0).message(ACQUIRE, REQUEST)
}
