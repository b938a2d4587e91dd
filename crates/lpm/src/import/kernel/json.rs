//! What `ip -j route` prints.

use std::fmt;

use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{Destination, Draft, Kernel, Kind, Route, rank};
use crate::import::fault::{Fault, LineError};
use crate::import::list::{Hop, List};

type Object = Map<String, Value>;

/// Whether bytes look like the beginning of an array rather than a line of text.
pub(in crate::import) fn is_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().first() == Some(&b'[')
}

/// Reads arrays of routes, one after the other.
pub(in crate::import) fn parse_json(bytes: &[u8], table: &str) -> List {
    let mut reader = Reader { list: List::default(), kernel: Kernel::new(table), number: 0 };
    let mut input = serde_json::Deserializer::from_slice(bytes);
    loop {
        if let Err(error) = input.deserialize_seq(&mut reader) {
            let line = error.line() as u64;
            reader.list.faults.add(Fault::Line { line, error: LineError::Json(error.to_string()) });
            break;
        }
        if input.end().is_ok() {
            break;
        }
    }
    reader.list
}

struct Reader<'a> {
    list: List,
    kernel: Kernel<'a>,
    number: u64,
}

impl<'de> Visitor<'de> for &mut Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of routes")
    }

    /// Takes the routes one by one: a table of a million would need a gigabyte.
    fn visit_seq<A: SeqAccess<'de>>(self, mut routes: A) -> Result<(), A::Error> {
        while let Some(route) = routes.next_element::<Object>()? {
            self.number += 1;
            if let Err(error) = self.route(&route) {
                self.list.faults.add(Fault::Route { number: self.number, error });
            }
        }
        Ok(())
    }
}

impl Reader<'_> {
    fn route(&mut self, object: &Object) -> Result<(), LineError> {
        // `ip` prints an empty object for what it filters out.
        if object.is_empty() {
            return Ok(());
        }
        // Its members stand among those of the route, and some have the same names.
        if let Some(kind) = object.get("encap") {
            return Err(LineError::Encapsulation(words(kind)));
        }
        let kind = match object.get("type").map(|name| text("type", name)).transpose()? {
            None => Kind::Forward,
            Some(name) => Kind::of(name).ok_or_else(|| LineError::Type(name.to_owned()))?,
        };
        let destination = object.get("dst").ok_or_else(|| bad("dst"))?;
        let mut route = Route::new(kind, Destination::parse(text("dst", destination)?)?);
        let mut draft = Draft::default();
        for (name, value) in object {
            self.member(&mut route, &mut draft, name, value)?;
        }
        route.add(draft);
        self.kernel.enter(&mut self.list, route)
    }

    /// Reads a member of a route.
    fn member(
        &mut self,
        route: &mut Route,
        draft: &mut Draft,
        name: &str,
        value: &Value,
    ) -> Result<(), LineError> {
        match name {
            "type" | "dst" => {}
            "metric" => {
                let metric = value.as_u64().and_then(|metric| u32::try_from(metric).ok());
                route.metric = metric.ok_or_else(|| bad("metric"))?;
            }
            "table" => route.set_table(&words(value), self.kernel.table),
            "tos" => return Err(LineError::Tos(words(value))),
            "from" | "src" => return Err(LineError::Source(words(value))),
            "pref" => {
                route.preference = rank(&words(value));
                route.v6 = route.v6.or(Some(true));
            }
            "prefsrc" => route.v6 = route.v6.or(Some(words(value).contains(':'))),
            "nhid" => route.object = Some(value.as_u64().ok_or_else(|| bad("nhid"))?),
            "nh_info" => self.object(route, value)?,
            "nexthops" => {
                for hop in value.as_array().ok_or_else(|| bad("nexthops"))? {
                    self.next_hop(route, hop)?;
                }
            }
            "protocol" => route.learned |= matches!(value.as_str(), Some("ra" | "redirect")),
            "expires" => route.learned = true,
            "deleted" => return Err(LineError::Deleted),
            "scope" | "mark" | "uid" | "cache" | "error" | "users" | "used" | "age" | "ipid" | "ts"
            | "tsage" | "metrics" | "iif" | "ttl-propogate" | "ttl-propagate" => {}
            _ => self.hop_member(route, draft, name, value)?,
        }
        Ok(())
    }

    /// Reads a member of a next hop, which may stand in the route.
    fn hop_member(
        &mut self,
        route: &mut Route,
        draft: &mut Draft,
        name: &str,
        value: &Value,
    ) -> Result<(), LineError> {
        match name {
            "gateway" => route.set_gateway(draft, address(value)?, false),
            "via" => {
                let family = value.get("family").map(words).unwrap_or_default();
                if !matches!(&family[..], "inet" | "inet6") {
                    return Err(LineError::Family(family));
                }
                let host = value.get("host").ok_or_else(|| bad("via"))?;
                route.set_gateway(draft, address(host)?, true);
            }
            "dev" => draft.hop.device = Some(self.kernel.device(&mut self.list, device(value)?)),
            "weight" => {
                let weight = value.as_u64().and_then(|weight| u32::try_from(weight).ok());
                draft.weight = weight.filter(|&weight| weight > 0).ok_or_else(|| bad("weight"))?;
            }
            "flags" => {
                let flags = value.as_array().ok_or_else(|| bad("flags"))?;
                draft.dead |= flags.iter().any(|flag| flag == "dead");
            }
            "encap" => return Err(LineError::Encapsulation(words(value))),
            "to" => return Err(LineError::Translation(words(value))),
            "flow" => {}
            _ => return Err(LineError::Word(name.to_owned())),
        }
        Ok(())
    }

    /// Reads one of several next hops.
    fn next_hop(&mut self, route: &mut Route, value: &Value) -> Result<(), LineError> {
        let members = value.as_object().ok_or_else(|| bad("nexthops"))?;
        // Its own members may have the names of those that are known; so this one comes first.
        if let Some(kind) = members.get("encap") {
            return Err(LineError::Encapsulation(words(kind)));
        }
        let mut draft = Draft::default();
        for (name, value) in members {
            self.hop_member(route, &mut draft, name, value)?;
        }
        if draft.hop == Hop::default() {
            return Err(bad("nexthops"));
        }
        route.add(draft);
        Ok(())
    }

    /// Reads what `ip -d` says of the next-hop object.
    fn object(&mut self, route: &mut Route, value: &Value) -> Result<(), LineError> {
        if let Some(kind) = value.get("encap") {
            return Err(LineError::Encapsulation(words(kind)));
        }
        let gateway = value.get("gateway").map(address).transpose()?;
        let device = value.get("dev").map(device).transpose()?;
        let device = device.map(|name| self.kernel.device(&mut self.list, name));
        let hop = Hop { gateway, device, port: None };
        route.shown = Some(hop).filter(|&hop| hop != Hop::default());
        Ok(())
    }
}

fn bad(name: &str) -> LineError {
    LineError::Value(name.to_owned())
}

fn text<'v>(name: &str, value: &'v Value) -> Result<&'v str, LineError> {
    value.as_str().ok_or_else(|| bad(name))
}

/// The name of an interface, which has no spaces.
fn device(value: &Value) -> Result<&str, LineError> {
    let is_name =
        |name: &&str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
    value.as_str().filter(is_name).ok_or_else(|| bad("dev"))
}

/// A value for people: a string without its quotation marks.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn address(value: &Value) -> Result<std::net::IpAddr, LineError> {
    words(value).parse().map_err(|_| LineError::Gateway(words(value)))
}
