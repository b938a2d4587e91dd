//! Routes and keys as configurations and handlers write them.

use super::association::Terms;
use super::table::RouteSpec;
use elements_shared::hexadecimal::from_hexadecimal;
use elements_shared::key_argument::HIDDEN;
use lpm::Prefix;
use router::{Bytes, FromArg, NetOrHost, Scope};
use std::fmt::Display;
use std::net::Ipv4Addr;
use wire::net::Ipv4Net;

/// What a route's argument should be.
pub(super) const ROUTE: &str = "'ADDR/MASK [GATEWAY] OUTPUT [SPI ENCRYPT_KEY AUTH_KEY REPLAY OOSIZE]'";

/// A key of so many octets: as a string that has as many, as `\<...>`, or in hexadecimal digits.
///
/// # Errors
/// What is needed. Here and below nothing is said of what was found, which may be a key, in the wrong place perhaps.
pub(super) fn key<const N: usize>(text: &str, scope: Scope<'_>) -> Result<[u8; N], String> {
    let bytes = Bytes::from_arg(text, scope).map_or_else(|_| Vec::new(), |Bytes(bytes)| bytes);
    let digits = || from_hexadecimal(&bytes)?.try_into().ok();
    let found = <[u8; N]>::try_from(&bytes[..]).ok().or_else(digits);
    found.ok_or_else(|| format!("key has bad length, {N} octets are needed"))
}

/// Reads `ADDR/MASK`.
fn prefix(text: &str, scope: Scope<'_>) -> Option<Prefix<u32>> {
    let NetOrHost(net) = NetOrHost::<Ipv4Net>::from_arg(text, scope).ok()?;
    Prefix::new(net.addr().into(), net.len()).ok()
}

/// A prefix as messages and tables show it.
pub(super) fn shown(prefix: Prefix<u32>) -> String {
    format!("{}/{}", Ipv4Addr::from(prefix.addr()), prefix.len())
}

/// A gateway as messages and tables show it.
pub(super) fn shown_gateway(gateway: Ipv4Addr) -> String {
    if gateway.is_unspecified() { "-".to_owned() } else { gateway.to_string() }
}

/// A number of at least `least`.
///
/// # Errors
/// What is needed.
pub(super) fn number<T: FromArg + PartialOrd + Display>(
    text: &str,
    scope: Scope<'_>,
    least: T,
    most: T,
) -> Result<T, String> {
    let number = T::from_arg(text, scope).ok().filter(|number| (&least..=&most).contains(&number));
    number.ok_or_else(|| format!("number between {least} and {most} expected"))
}

/// The terms of a tunnel.
fn terms(words: &[String], scope: Scope<'_>) -> Result<Terms, String> {
    let [spi, encryption, authentication, first, window] = words else {
        return Err(format!("should be {ROUTE}"));
    };
    let of = |name: &'static str| move |why: String| format!("{name}: {why}");
    Ok(Terms {
        spi: number(spi, scope, 1, u32::MAX).map_err(of("SPI"))?,
        encryption: key(encryption, scope).map_err(of("ENCRYPT_KEY"))?,
        authentication: key(authentication, scope).map_err(of("AUTH_KEY"))?,
        first: number(first, scope, 1, u32::MAX).map_err(of("REPLAY"))?,
        window: number(window, scope, 0, u8::MAX).map_err(of("OOSIZE"))?,
    })
}

/// Reads a route.
///
/// # Errors
/// What is wrong with it, behind the name of what it was to be.
pub(super) fn route(text: &str, scope: Scope<'_>) -> Result<RouteSpec, String> {
    let words = lang::conf::split_spaces(text);
    let wrong = || format!("should be {ROUTE}");
    let (first, rest) = words.split_first().ok_or_else(wrong)?;
    let prefix = prefix(first, scope).ok_or_else(wrong)?;
    let (gateway, rest) = gateway(rest, scope);
    let (port, rest) = rest.split_first().ok_or_else(wrong)?;
    let port = u32::from_arg(port, scope).map_err(|_| wrong())?;
    let terms = if rest.is_empty() { None } else { Some(terms(rest, scope)?) };
    Ok(RouteSpec { prefix, gateway: gateway.unwrap_or(Ipv4Addr::UNSPECIFIED), port, terms })
}

/// The gateway, if the first word is one, and the words behind it.
fn gateway<'w>(words: &'w [String], scope: Scope<'_>) -> (Option<Ipv4Addr>, &'w [String]) {
    match words.split_first() {
        Some((word, rest)) if word == "-" => (None, rest),
        Some((word, rest)) => match Ipv4Addr::from_arg(word, scope) {
            Ok(address) => (Some(address), rest),
            Err(_) => (None, words),
        },
        None => (None, words),
    }
}

/// A configuration string without the keys of its routes; none if it has none.
pub(super) fn hidden(config: &str) -> Option<String> {
    let (mut args, mut found) = (lang::conf::split_args(config), false);
    for arg in &mut args {
        let mut words = lang::conf::split_spaces(arg);
        // ADDR/MASK OUTPUT SPI ENCRYPT_KEY AUTH_KEY REPLAY OOSIZE, and perhaps a gateway.
        if let Some(from) = words.len().checked_sub(4).filter(|from| *from >= 3) {
            words[from..from + 2].fill(HIDDEN.to_owned());
            (*arg, found) = (words.join(" "), true);
        }
    }
    found.then(|| lang::conf::join_args(&args))
}

/// A prefix, and the gateway and output of its route, if that is said.
pub(super) type Removed = (Prefix<u32>, Option<(Ipv4Addr, u32)>);

/// Reads which route is to be removed: `ADDR/MASK [[GATEWAY] OUTPUT]`. Whatever is said of a tunnel does not matter.
pub(super) fn removed(text: &str, scope: Scope<'_>) -> Option<Removed> {
    let words = lang::conf::split_spaces(text);
    let (first, rest) = words.split_first()?;
    let prefix = prefix(first, scope)?;
    let (gateway, rest) = gateway(rest, scope);
    let Some(port) = rest.first() else { return Some((prefix, None)) };
    let port = u32::from_arg(port, scope).ok()?;
    Some((prefix, Some((gateway.unwrap_or(Ipv4Addr::UNSPECIFIED), port))))
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[test]
    fn keys_of_routes_are_hidden() {
        let routes = r"0.0.0.0/0 192.0.2.2 2, 10.0.2.0/24 192.0.2.2 1 234 \<0183 A947> sixteen.octets.. 300 64, 10.0.3.0/24 1 9 00 11 1 32";
        let shown =
            "0.0.0.0/0 192.0.2.2 2, 10.0.2.0/24 192.0.2.2 1 234 *** *** 300 64, 10.0.3.0/24 1 9 *** *** 1 32";
        assert_eq!(hidden(routes).as_deref(), Some(shown));
        assert_eq!(hidden("0.0.0.0/0  192.0.2.2 2,10.0.2.0/24 1"), None);
    }
}
