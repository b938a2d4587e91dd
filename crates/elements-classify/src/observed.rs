//! Patterns for packets wherever they are: in a frame, without it, marked or not.

use super::expr::{Expr, Parts};
use super::language::{Language, words};
use super::names::Family;
use super::primitive::Messages;
use super::ways::digest_v6;
use packet::Packet;
use router::{Filter, Scope};
use std::sync::Arc;

/// Ethernet's types, and those of tags before another type.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TAGS: [u16; 2] = [0x8100, 0x88a8];

/// The network header of a packet and what is in front of it: where an element has marked it, or else where it seems to be.
fn layers(packet: &Packet) -> Option<(Family, &[u8], &[u8])> {
    let family = |bytes: &[u8]| match bytes.first().map(|first| first >> 4) {
        Some(4) if bytes.len() >= 20 => Some(Family::V4),
        Some(6) if bytes.len() >= 40 => Some(Family::V6),
        _ => None,
    };
    if let Some(network) = packet.network() {
        return Some((family(network)?, packet.mac().unwrap_or_default(), network));
    }
    let data = packet.data();
    let kind = |at: usize| Some(u16::from_be_bytes(*data.get(at..)?.first_chunk()?));
    let mut at = 12;
    while kind(at).is_some_and(|kind| TAGS.contains(&kind)) && at < 20 {
        at += 4;
    }
    match kind(at) {
        Some(IPV4 | IPV6) => data.get(at + 2..).and_then(|network| Some((family(network)?, data, network))),
        _ => is_whole(data).then(|| Some((family(data)?, &data[..0], data)))?,
    }
}

/// Whether an IP packet of the length that it says begins here: a frame rarely looks so.
fn is_whole(bytes: &[u8]) -> bool {
    let said = |at: usize| {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|two| usize::from(u16::from_be_bytes(*two)))
    };
    match bytes.first() {
        Some(first) if first >> 4 == 4 => said(2).is_some_and(|len| len >= 20 && len <= bytes.len()),
        Some(first) if first >> 4 == 6 => said(4).is_some_and(|len| len + 40 <= bytes.len()),
        _ => false,
    }
}

/// A filter of an IPClassifier's or IP6Classifier's pattern: packets of either family that it accepts.
///
/// # Errors
/// What is wrong with it, as a pattern for IPv4.
pub fn filter(pattern: &str, scope: Scope<'_>) -> Result<Filter, String> {
    let read = |family| {
        let mut messages = Messages::default();
        let expr = Language { family, scope }.read(&words(pattern), &mut messages);
        if messages.errors.is_empty() { Ok(expr) } else { Err(messages.errors.join("; ")) }
    };
    let (v4, v6) = match (read(Family::V4), read(Family::V6)) {
        (Err(error), Err(_)) => return Err(error),
        (v4, v6) => (v4.ok(), v6.ok()),
    };
    Ok(Arc::new(move |packet: &Packet| {
        let Some((family, front, network)) = layers(packet) else {
            // All packets are meant where the pattern has no condition, also those that are not IP.
            return matches!(v4, Some(Expr::Const(true)));
        };
        let mut mac = [0; 16];
        let len = front.len().min(14);
        mac[2..2 + len].copy_from_slice(&front[..len]);
        let mac = if len > 0 { &mac[..2 + len] } else { &[] };
        match family {
            Family::V4 => {
                let transport = network.get(usize::from(network[0] & 15) * 4..).unwrap_or_default();
                v4.as_ref().is_some_and(|expr| expr.matches(&Parts::new(mac, network, transport, &[])))
            }
            Family::V6 => {
                let found = digest_v6(network);
                let (digest, transport) =
                    found.as_ref().map_or((&[][..], &[][..]), |(digest, rest)| (&digest[..], *rest));
                v6.as_ref().is_some_and(|expr| expr.matches(&Parts::new(mac, network, transport, digest)))
            }
        }
    }))
}
