//! Routes as configurations and handlers write them.

use super::family::Family;
use super::target::{Hop, Target};
use lpm::Prefix;
use router::{FromArg, Scope};

/// A prefix, and where it leads if that is said.
pub(super) type Words<F> = (Prefix<<F as Family>::Key>, Option<Target<<F as Family>::Gateway>>);

/// Reads `ADDR/MASK [GATEWAY|-] [OUTPUT]` or `ADDR/MASK nexthop GATEWAY|- OUTPUT [WEIGHT] ...`. The output -1 is nowhere,
/// and the weight 0 is that of a next hop that gets no new flows.
/// Outputs are not compared with those that there are: see [`leads_to`].
pub(super) fn parse<F: Family>(text: &str, scope: Scope<'_>) -> Option<Words<F>> {
    let words = lang::conf::split_spaces(text);
    let (first, rest) = words.split_first()?;
    let prefix = F::prefix(first, scope)?;
    let hop = |gateway: Option<&String>, port: &String| {
        let gateway = match gateway {
            Some(gateway) if gateway != "-" => F::read_gateway(gateway, scope)?,
            _ => F::DIRECT,
        };
        let port = i32::from_arg(port, scope).ok()?;
        Some(Hop { gateway, port: u32::try_from(port).unwrap_or(u32::MAX) })
    };
    let to = match rest {
        [] => return Some((prefix, None)),
        // A gateway alone does not say where it is.
        [gateway] if gateway == "-" || F::read_gateway(gateway, scope).is_some() => {
            return Some((prefix, None));
        }
        [port] | [_, port] if port == "-1" => Target::Nowhere,
        [port] => Target::One(hop(None, port)?),
        [gateway, port] => Target::One(hop(Some(gateway), port)?),
        [first, ..] if first == "nexthop" => {
            let hops = rest[1..].split(|word| word == "nexthop").map(|words| match words {
                [gateway, port] => Some((hop(Some(gateway), port)?, 1)),
                [gateway, port, weight] => {
                    Some((hop(Some(gateway), port)?, u32::from_arg(weight, scope).ok()?))
                }
                _ => None,
            });
            let hops = hops.collect::<Option<Vec<_>>>()?;
            // Nowhere is written otherwise.
            if hops.iter().all(|&(_, weight)| weight == 0) {
                return None;
            }
            Target::of(hops)
        }
        _ => return None,
    };
    Some((prefix, Some(to)))
}

/// Why a route cannot be read, where a gateway is the reason: it is of a family that this table's packets cannot be sent over.
pub(super) fn foreign_gateway<F: Family>(text: &str, scope: Scope<'_>) -> Option<String> {
    let words = lang::conf::split_spaces(text);
    let (prefix, rest) = words.split_first()?;
    F::prefix(prefix, scope)?;
    let is_foreign = |word: &&String| {
        let address = word.parse::<std::net::IpAddr>();
        address.is_ok_and(|address| F::gateway(address).is_none())
    };
    let gateway = rest.iter().find(is_foreign)?;
    Some(format!("gateway {gateway} is of the other address family"))
}

/// Whether there are all outputs that a route leads to.
pub(super) fn leads_to<A: Copy + PartialEq>(to: &Target<A>, outputs: usize) -> bool {
    to.hops().iter().all(|(hop, _)| (hop.port as usize) < outputs)
}

/// How many outputs a route needs; none if it leads to an output that cannot be.
pub(super) fn needed_outputs<A: Copy + PartialEq>(to: &Target<A>) -> Option<u32> {
    to.hops().iter().map(|(hop, _)| hop.port).max()?.checked_add(1)
}

/// Outputs for next hops that routes do not say themselves.
pub(super) struct Outputs {
    default: Option<u32>,
    /// By interface, with that for packets to gateways of another family, if they have one.
    devices: Vec<(String, u32, Option<u32>)>,
}

impl Outputs {
    /// Reads `[OUTPUT] [INTERFACE=OUTPUT[,OUTPUT6]...]`.
    pub(super) fn parse(words: &[impl AsRef<str>]) -> Result<Outputs, String> {
        let mut outputs = Outputs { default: None, devices: Vec::new() };
        for (at, word) in words.iter().map(AsRef::as_ref).enumerate() {
            let number = |text: &str| text.parse().map_err(|_| format!("bad output '{text}'"));
            match word.split_once('=') {
                Some((device, ports)) => {
                    let (port, across) = match ports.split_once(',') {
                        Some((port, across)) => (port, Some(number(across)?)),
                        None => (ports, None),
                    };
                    outputs.devices.push((device.to_owned(), number(port)?, across));
                }
                None if at == 0 => outputs.default = Some(number(word)?),
                None => return Err(format!("expected 'INTERFACE=OUTPUT', not '{word}'")),
            }
        }
        Ok(outputs)
    }

    /// The output for next hops behind an interface; `across` if the gateway is of another family than the packets. Where interfaces
    /// have outputs, each must, or there must be another for the rest.
    pub(super) fn of(&self, device: Option<&str>, across: bool) -> Option<u32> {
        let given = self.devices.iter().find(|(name, ..)| Some(name.as_str()) == device);
        let given = given.map(|&(_, port, other)| other.filter(|_| across).unwrap_or(port));
        let rest = if self.devices.is_empty() || device.is_none() { Some(0) } else { None };
        given.or(self.default).or(rest)
    }
}
