//! From octets to what they say.

use super::*;
use crate::routes::netlink::attributes::{attributes, u16_at, u32_at};
use elements_shared::ipsec_port::{
    Action, Algorithm, Association, Direction, KeyMaterial, Limits, Mode, Policy, Selector, Template,
};
use elements_shared::route_port::Destination;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// There is this association from now on.
    Association(Box<Known>),
    /// There is an association, of which Clique cannot make use, for this reason.
    Unusable(IpAddr, u32, &'static str),
    /// There is none with this destination and number any more.
    Gone(IpAddr, u32),
    /// There is none any more, of ESP.
    AllGone,
    /// There is this policy from now on.
    Policy(Box<Policy>),
    /// There is a policy of which Clique cannot make use. What would match it is dropped.
    UnusablePolicy(Box<Policy>, &'static str),
    /// There is none with this direction, number and selector any more.
    PolicyGone(Direction, u32, Selector),
    /// There is none any more.
    NoPolicies,
    /// Something else.
    Other,
}

/// An association, and what the kernel wants to hear of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) association: Association,
    /// Words of the bitmap in its replay state, if that has one of variable length.
    pub(crate) bitmap: Option<u32>,
    /// When it was made, in seconds since the epoch.
    pub(crate) made: u64,
}

/// The messages in some bytes.
pub(crate) fn messages(mut bytes: &[u8]) -> Vec<Message> {
    let mut found = Vec::new();
    while let Some((message, rest)) = message(bytes) {
        found.push(message);
        bytes = rest;
    }
    found
}

/// The first message, and what follows it.
fn message(bytes: &[u8]) -> Option<(Message, &[u8])> {
    let len = u32_at(bytes, 0)? as usize;
    let body = bytes.get(HEADER..len)?;
    let rest = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
    let read = match u16_at(bytes, 4)? {
        NEWSA | UPDSA => association(body),
        DELSA => gone(body),
        EXPIRE => expired(body),
        FLUSHSA => body.first().filter(|proto| matches!(**proto, 0 | ESP | 255)).map(|_| Message::AllGone),
        NEWPOLICY | UPDPOLICY => policy(body),
        DELPOLICY => policy_gone(body),
        FLUSHPOLICY => Some(Message::NoPolicies),
        _ => None,
    };
    Some((read.unwrap_or(Message::Other), rest))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn be16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn be32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// `xfrm_address_t`.
fn address_at(bytes: &[u8], at: usize, family: u16) -> Option<IpAddr> {
    let octets = bytes.get(at..)?.first_chunk::<16>()?;
    match family {
        AF_INET => octets.first_chunk::<4>().map(|octets| Ipv4Addr::from(*octets).into()),
        AF_INET6 => Some(Ipv6Addr::from(*octets).into()),
        _ => None,
    }
}

/// `struct xfrm_selector`; none of a family that is not said, as associations have it that match all.
fn selector(bytes: &[u8]) -> Option<Selector> {
    let bytes = bytes.get(..SELECTOR)?;
    let family = u16_at(bytes, 40)?;
    let longest = if family == AF_INET { 32 } else { 128 };
    let prefix = |at, len: u8| {
        let address = address_at(bytes, at, family)?;
        (len <= longest).then(|| Destination { address: masked(address, len), len })
    };
    Some(Selector {
        source: prefix(16, bytes[43])?,
        destination: prefix(0, bytes[42])?,
        protocol: bytes[44],
        source_port: (be16_at(bytes, 36)?, be16_at(bytes, 38)?),
        destination_port: (be16_at(bytes, 32)?, be16_at(bytes, 34)?),
    })
}

fn masked(address: IpAddr, len: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
            Ipv4Addr::from(u32::from(address) & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
            Ipv6Addr::from(u128::from(address) & mask).into()
        }
    }
}

fn mode(number: u8) -> Option<Mode> {
    match number {
        0 => Some(Mode::Transport),
        1 => Some(Mode::Tunnel),
        _ => None,
    }
}

/// What names an association: address, number and protocol, by the family.
fn name(bytes: &[u8], family: u16) -> Option<(IpAddr, u32, u8)> {
    Some((address_at(bytes, 0, family)?, be32_at(bytes, 16)?, *bytes.get(20)?))
}

/// `struct xfrm_usersa_info`, attributes.
fn association(body: &[u8]) -> Option<Message> {
    let info = body.get(..SA_INFO)?;
    let family = u16_at(info, 212)?;
    let (destination, spi, protocol) = name(&info[56..], family)?;
    if protocol != ESP {
        return None;
    }
    let source = address_at(info, 80, family)?;
    let all: Vec<(u16, &[u8])> = attributes(&body[SA_INFO..]).collect();
    let of = |kind| all.iter().find(|(other, _)| *other == kind).map(|(_, value)| *value);
    let (algorithm, key) = match algorithm(of(ALG_AEAD), of(ALG_CRYPT), of(ALG_AUTH_TRUNC)) {
        Ok(found) => found,
        Err(why) => return Some(Message::Unusable(destination, spi, why)),
    };
    let Some(mode) = mode(info[214]) else {
        return Some(Message::Unusable(destination, spi, "neither tunnel nor transport mode"));
    };
    if of(IF_ID).and_then(|value| u32_at(value, 0)).is_some_and(|id| id != 0) || of(MARK).is_some_and(is_set)
    {
        return Some(Message::Unusable(destination, spi, "it is for a mark or an XFRM interface"));
    }
    const ENCAP_ESP_IN_UDP: u16 = 2;
    let encap = of(ENCAP);
    if encap.is_some_and(|value| u16_at(value, 0) != Some(ENCAP_ESP_IN_UDP)) {
        return Some(Message::Unusable(destination, spi, "an encapsulation other than ESP in UDP"));
    }
    let ports = encap.and_then(|value| Some((be16_at(value, 2)?, be16_at(value, 4)?)));
    const ESN: u8 = 128;
    let extended = info[216] & ESN != 0;
    let replay = Replay::read(of(REPLAY_ESN_VAL), of(REPLAY_VAL), info[215])?;
    let limit = |at: usize| u64_at(info, 96 + at);
    let association = Association {
        source,
        destination,
        spi,
        reqid: u32_at(info, 208)?,
        mode,
        algorithm,
        key,
        extended,
        window: replay.window,
        ports,
        soft: Limits { bytes: limit(0)?, packets: limit(16)?, at_ns: u64::MAX },
        hard: Limits { bytes: limit(8)?, packets: limit(24)?, at_ns: u64::MAX },
        used: if extended { replay.used } else { (replay.used.0 & 0xffff_ffff, replay.used.1 & 0xffff_ffff) },
    };
    Some(Message::Association(Box::new(Known {
        association,
        bitmap: replay.bitmap,
        made: u64_at(info, 176)?,
    })))
}

/// Whether a mark is one.
fn is_set(mark: &[u8]) -> bool {
    mark.iter().any(|byte| *byte != 0)
}

/// What the kernel says of sequence numbers.
struct Replay {
    window: u32,
    used: (u64, u64),
    bitmap: Option<u32>,
}

impl Replay {
    fn read(variable: Option<&[u8]>, fixed: Option<&[u8]>, window: u8) -> Option<Replay> {
        if let Some(state) = variable {
            let wide =
                |low, high| Some(u64::from(u32_at(state, high)?) << 32 | u64::from(u32_at(state, low)?));
            let (bitmap, window) = (u32_at(state, 0)?, u32_at(state, 20)?);
            return Some(Replay { window, used: (wide(4, 12)?, wide(8, 16)?), bitmap: Some(bitmap) });
        }
        let of = |at| fixed.and_then(|state| u32_at(state, at)).map_or(0, u64::from);
        Some(Replay { window: window.into(), used: (of(0), of(4)), bitmap: None })
    }
}

/// The name of an algorithm, its key, and the length of its check value in bits; `header` is that of the structure.
fn algorithm_of(value: &[u8], header: usize) -> Option<(&[u8], &[u8], u32)> {
    let name = value.get(..64)?.split(|byte| *byte == 0).next()?;
    let bits = u32_at(value, 64)? as usize;
    let icv = if header > 68 { u32_at(value, 68)? } else { 0 };
    Some((name, value.get(header..)?.get(..bits.div_ceil(8))?, icv))
}

/// The algorithm, and its key; or why there is none.
fn algorithm(
    aead: Option<&[u8]>,
    crypt: Option<&[u8]>,
    auth: Option<&[u8]>,
) -> Result<(Algorithm, KeyMaterial), &'static str> {
    if let Some((name, key, icv)) = aead.and_then(|value| algorithm_of(value, 72)) {
        let algorithm = match name {
            b"rfc4106(gcm(aes))" => Algorithm::AesGcm,
            b"rfc4543(gcm(aes))" => Algorithm::AesGmac,
            b"rfc7539esp(chacha20,poly1305)" => Algorithm::ChaCha20Poly1305,
            _ => return Err("an algorithm that is not known"),
        };
        return match icv {
            128 => Ok((algorithm, KeyMaterial::new(key.to_vec()))),
            _ => Err("a check value of less than 128 bits"),
        };
    }
    let (crypt, auth) =
        (crypt.and_then(|value| algorithm_of(value, 68)), auth.and_then(|value| algorithm_of(value, 72)));
    match (crypt, auth) {
        (Some((b"cbc(aes)", key, _)), Some((b"hmac(sha256)", authentication, 128))) => {
            Ok((Algorithm::AesCbcSha256, KeyMaterial::new([key, authentication].concat())))
        }
        (None, None) => Err("it has no key yet"),
        _ => Err("an algorithm that is not known"),
    }
}

/// `struct xfrm_usersa_id`.
fn gone(body: &[u8]) -> Option<Message> {
    let (destination, spi, protocol) =
        name(body, u16_at(body, 20)?).map(|(address, spi, _)| (address, spi, body.get(22).copied()))?;
    (protocol == Some(ESP)).then_some(Message::Gone(destination, spi))
}

/// `struct xfrm_user_expire`: at the hard limit the association is gone.
fn expired(body: &[u8]) -> Option<Message> {
    let (destination, spi, protocol) = name(body.get(56..)?, u16_at(body, 212)?)?;
    (protocol == ESP && *body.get(SA_INFO)? != 0).then_some(Message::Gone(destination, spi))
}

/// Direction, number and selector of a policy; none of a socket's.
fn policy_name(info: &[u8], number: usize, direction: usize) -> Option<(Direction, u32, Selector)> {
    let direction = match info.get(direction)? {
        0 | 2 => Direction::In,
        1 => Direction::Out,
        _ => return None,
    };
    Some((direction, u32_at(info, number)?, selector(info)?))
}

/// `struct xfrm_userpolicy_info`, attributes.
fn policy(body: &[u8]) -> Option<Message> {
    let info = body.get(..POLICY_INFO)?;
    let (direction, tag, selector) = policy_name(info, 156, 160)?;
    let of =
        |kind| attributes(&body[POLICY_INFO..]).find(|(other, _)| *other == kind).map(|(_, value)| value);
    let templates = of(TMPL).unwrap_or_default();
    let (mut action, mut why) = (Action::Discard, None);
    match (info[161], templates.len()) {
        (1, _) => {}
        (0, 0) => action = Action::Bypass,
        // Protecting what it may leave in the clear is not what was asked for, and leaving that in the clear is no protection.
        (0, TEMPLATE) if templates[OPTIONAL] != 0 => {
            why = Some("it wants protection only where there is an association (level use)");
        }
        (0, TEMPLATE) => match template(templates) {
            Some(template) => action = Action::Protect(template),
            None => why = Some("it wants something else than ESP"),
        },
        _ => why = Some("it wants several protocols, one after the other"),
    }
    if of(IF_ID).and_then(|value| u32_at(value, 0)).is_some_and(|id| id != 0) || of(MARK).is_some_and(is_set)
    {
        // What is for something else must not match here.
        return None;
    }
    let policy = Box::new(Policy { direction, tag, selector, priority: u32_at(info, 152)?, action });
    Some(match why {
        None => Message::Policy(policy),
        Some(why) => Message::UnusablePolicy(policy, why),
    })
}

/// Where a `struct xfrm_user_tmpl` says that packets may pass without it.
const OPTIONAL: usize = 50;

/// `struct xfrm_user_tmpl`, of ESP.
fn template(bytes: &[u8]) -> Option<Template> {
    let family = u16_at(bytes, 24)?;
    let (destination, spi, protocol) = name(bytes, family)?;
    let (source, reqid) = (address_at(bytes, 28, family)?, u32_at(bytes, 44)?);
    let mode = mode(*bytes.get(48)?)?;
    (protocol == ESP).then_some(Template { source, destination, spi, reqid, mode })
}

/// `struct xfrm_userpolicy_id`, and mostly the whole policy in an attribute.
fn policy_gone(body: &[u8]) -> Option<Message> {
    const ID: usize = 64;
    let whole = attributes(body.get(ID..)?).find(|(kind, _)| *kind == POLICY).map(|(_, value)| value);
    let (direction, tag, selector) = match whole {
        Some(info) => policy_name(info, 156, 160)?,
        None => policy_name(body, 56, 60)?,
    };
    Some(Message::PolicyGone(direction, tag, selector))
}
