//! Clique's own lines of routes: as route tables take them, and as they print them.

use std::net::IpAddr;
use std::str::SplitAsciiWhitespace;

use super::fault::LineError;
use super::list::{AnyPrefix, Hop, List, NextHops};
use super::prefixes::parse_prefix;
use crate::prefix::Key;

/// Reads lines of routes.
#[derive(Default)]
pub(super) struct Plain {
    /// The route of the line before, if it has a weight and so may have a further next hop in this one.
    weighted: Option<Weighted>,
}

/// A route of which a next hop has a weight.
#[derive(Clone, Copy)]
struct Weighted {
    prefix: AnyPrefix,
    /// Its place in the list.
    at: usize,
    /// The weight of the latest next hop.
    weight: u32,
}

impl Plain {
    /// Reads `PREFIX [[GATEWAY] PORT [weight WEIGHT]]` or `PREFIX nexthop GATEWAY PORT [WEIGHT] nexthop ...`. The port -1 is nowhere.
    pub(super) fn read(
        &mut self,
        list: &mut List,
        prefix: &str,
        mut words: SplitAsciiWhitespace<'_>,
    ) -> Result<AnyPrefix, LineError> {
        let weighted = self.weighted.take();
        let prefix = parse_prefix(prefix).map_err(|error| LineError::Prefix(prefix.to_owned(), error))?;
        let (first, second) = (words.next(), words.next());
        let next_hops = match (first, second) {
            (None, _) => NextHops::Hop(Hop::default()),
            (Some("nexthop"), Some(gateway)) => several(list, gateway, &mut words)?,
            (Some("nexthop"), None) => return Err(LineError::Value("nexthop".to_owned())),
            (Some("-1"), None) | (Some(_), Some("-1")) => {
                first.filter(|_| second.is_some()).map(gateway).transpose()?;
                NextHops::Nowhere
            }
            (Some(text), None) => NextHops::Hop(Hop { port: Some(port(text)?), ..Hop::default() }),
            (Some(text), Some(output)) => {
                let hop = Hop { gateway: gateway(text)?, port: Some(port(output)?), device: None };
                match words.next() {
                    None => NextHops::Hop(hop),
                    Some("weight") => {
                        let weight = weight(words.next())?;
                        end(words, prefix)?;
                        self.add(list, prefix, hop, weight, weighted);
                        return Ok(prefix);
                    }
                    Some(extra) => return Err(LineError::Extra(extra.to_owned())),
                }
            }
        };
        end(words, prefix)?;
        list.push(prefix, next_hops);
        Ok(prefix)
    }

    /// Adds one of several next hops, each of which has a line.
    fn add(&mut self, list: &mut List, prefix: AnyPrefix, hop: Hop, weight: u32, before: Option<Weighted>) {
        let at = match before.filter(|before| before.prefix == prefix) {
            Some(before) => {
                match list.next_hops(prefix, before.at) {
                    NextHops::Group(group) => list.groups[group as usize].push((hop, weight)),
                    first => {
                        let first = list.hops(first).into_iter().map(|(hop, _)| (hop, before.weight));
                        let group = list.group(first.chain([(hop, weight)]).collect());
                        list.set_next_hops(prefix, before.at, group);
                    }
                }
                before.at
            }
            None => {
                list.push(prefix, NextHops::Hop(hop));
                let count = if matches!(prefix, AnyPrefix::V4(_)) { list.v4.len() } else { list.v6.len() };
                count - 1
            }
        };
        self.weighted = Some(Weighted { prefix, at, weight });
    }
}

fn end(mut words: SplitAsciiWhitespace<'_>, prefix: AnyPrefix) -> Result<AnyPrefix, LineError> {
    match words.next() {
        None => Ok(prefix),
        Some(extra) => Err(LineError::Extra(extra.to_owned())),
    }
}

/// Reads `GATEWAY PORT [WEIGHT] nexthop ...`.
fn several(
    list: &mut List,
    first: &str,
    words: &mut SplitAsciiWhitespace<'_>,
) -> Result<NextHops, LineError> {
    let (mut hops, mut address) = (Vec::new(), Some(first));
    while let Some(text) = address.take() {
        let output = words.next().ok_or_else(|| LineError::Value("nexthop".to_owned()))?;
        let hop = Hop { gateway: gateway(text)?, port: Some(port(output)?), device: None };
        let mut word = words.next();
        let share = match word {
            None | Some("nexthop") => 1,
            Some(_) => {
                let share = weight(word)?;
                word = words.next();
                share
            }
        };
        hops.push((hop, share));
        match word {
            None => {}
            Some("nexthop") => {
                address = Some(words.next().ok_or_else(|| LineError::Value("nexthop".to_owned()))?)
            }
            Some(extra) => return Err(LineError::Extra(extra.to_owned())),
        }
    }
    Ok(match hops[..] {
        [(hop, _)] => NextHops::Hop(hop),
        _ => list.group(hops),
    })
}

/// A gateway, of whichever family: a neighbour of the other one can be reached just as well.
fn gateway(text: &str) -> Result<Option<IpAddr>, LineError> {
    let address = match text {
        "-" => return Ok(None),
        _ if text.contains(':') => u128::parse(text).map(|address| IpAddr::V6(address.into())),
        _ => u32::parse(text).map(|address| IpAddr::V4(address.into())),
    };
    let address = address.ok_or_else(|| LineError::Gateway(text.to_owned()))?;
    Ok(Some(address).filter(|address| !address.is_unspecified()))
}

fn port(text: &str) -> Result<u32, LineError> {
    number(text).ok_or_else(|| LineError::Port(text.to_owned()))
}

fn weight(text: Option<&str>) -> Result<u32, LineError> {
    text.and_then(number).filter(|&weight| weight > 0).ok_or_else(|| LineError::Value("weight".to_owned()))
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}
