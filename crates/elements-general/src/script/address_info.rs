//! Gives names to addresses.
//!
//! ```click
//! AddressInfo(NAME ADDRESS..., ...)
//! ```
//!
//! Each argument gives a name to one or several addresses, which the arguments of other elements can then use instead
//! of the addresses. A name may stand for one address of each kind: an IPv4 address (`10.0.0.1`) and prefix
//! (`10.0.0.0/8`), an IPv6 address and prefix, and an Ethernet address. A prefix with host bits (`10.0.0.1/8`)
//! defines both a prefix and an address. If it is not clear which kind is meant, add a suffix: `NAME:ip`,
//! `NAME:ipnet`, `NAME:ip6`, `NAME:ip6net`, `NAME:eth`. `NAME:bcast` is the last address of the IPv4 prefix,
//! `NAME:gw` its first host.
//!
//! Names are known within the compound element that defines them, and inside it; inner definitions hide outer ones.
//! Elements declared earlier can use them too.
//!
//! The name of an interface of this machine stands for its first IPv4 address, that address's prefix, and its
//! Ethernet address; `eth0:gw` is the gateway of its default route or, if there is none, the first host.
//!
//! Ports: none. Workers: replicated; does nothing while the router runs.
//!
//! # Example
//! ```click
//! AddressInfo(gate 10.0.0.1/8 00:50:BA:85:84:A9);
//! ARPResponder(gate gate:eth)
//! ```
//!
//! # See also
//! ARPResponder, EtherEncap

use router::{Class, Config, ConfigError, Element, FromArg, IpMask, Value};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AddressInfo", create).ports("0/0").phase(-10).doc(router::manual!("address_info.rs"));

struct AddressInfo;

impl Element for AddressInfo {}

/// What may be wrong with an address that is not known, if it is an interface's.
fn why(text: &str) -> String {
    let name = text.rsplit_once(':').filter(|(_, kind)| kind.starts_with("eth") || kind.starts_with("ip"));
    match name {
        Some((name, _)) if device::links::named(name).is_none() => {
            format!(": there is no interface '{name}' here")
        }
        _ => String::new(),
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut errors = ConfigError::default();
    for argument in lang::conf::split_args(config.text()) {
        let words = lang::conf::split_spaces(&argument);
        let Some((name, addresses)) = words.split_first() else { continue };
        if addresses.is_empty() {
            errors.messages.push("expected 'NAME [ADDRS]'".to_owned());
        }
        let mut defined: Vec<Value> = Vec::new();
        for text in addresses {
            let values = read(config, text);
            if values.is_empty() {
                errors.messages.push(format!("'{text}' is not a recognizable address{}", why(text)));
            }
            let only = values.len() == 1;
            for value in values {
                // What a prefix says beside itself does not replace what was said on purpose.
                let same = |old: &Value| std::mem::discriminant(old) == std::mem::discriminant(&value);
                if only || !defined.iter().any(same) {
                    config.define(name, value);
                    defined.push(value);
                }
            }
        }
    }
    if errors.messages.is_empty() { Ok(Box::new(AddressInfo)) } else { Err(errors) }
}

/// All that a text can mean: one thing nearly always.
fn read(config: &Config<'_>, text: &str) -> Vec<Value> {
    let scope = config.scope();
    let mut values: Vec<Value> = MacAddr::from_arg(text, scope).map(Value::Ether).into_iter().collect();
    if let Ok(address) = Ipv4Addr::from_arg(text, scope) {
        values.push(Value::Ip(address));
    } else if let Ok(IpMask { addr, mask }) = IpMask::from_arg(text, scope)
        && let Some(len) = wire::net::mask_len_v4(mask)
    {
        values.push(Value::IpPrefix(addr, len));
        if addr.to_bits() & !mask.to_bits() != 0 {
            values.push(Value::Ip(addr));
        }
    }
    if let Ok(address) = Ipv6Addr::from_arg(text, scope) {
        values.push(Value::Ip6(address));
    } else if let Ok((addr, len)) = wire::net::parse_ipv6_and_len(text) {
        values.push(Value::Ip6Prefix(addr, len));
        if addr.to_bits() & !wire::net::mask_v6(len).to_bits() != 0 {
            values.push(Value::Ip6(addr));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};
    use std::net::Ipv4Addr;

    /// Names are scoped to compounds, inner ones hide outer ones, and an address that was given on its own wins over the one
    /// that a prefix implies.
    #[test]
    fn scopes_and_kinds() {
        let config = "AddressInfo(a 10.0.0.1/8, b 1.1.1.1 10.9.9.9/16);
                      c :: { AddressInfo(a 2.2.2.2); i :: Idle -> output }; c -> Idle; o :: Idle -> Discard;";
        let router = build(config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
        let info = router.info();
        let lookup = |element: &str, name: &str| {
            let names = info.names();
            let pick = |v: &router::Value| match v {
                router::Value::Ip(a) => Some(*a),
                _ => None,
            };
            names.lookup(element, name, pick)
        };
        assert_eq!(lookup("o", "a"), Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!(lookup("c/i", "a"), Some(Ipv4Addr::new(2, 2, 2, 2)));
        assert_eq!(lookup("c/i", "b"), Some(Ipv4Addr::new(1, 1, 1, 1)));
    }

    #[test]
    fn unknown_addresses() {
        let said = errors("AddressInfo(a 1.2.3, b)");
        assert!(
            said.contains("'1.2.3' is not a recognizable address") && !said.contains("interface"),
            "{said}"
        );
        assert!(said.contains("expected 'NAME [ADDRS]'"), "{said}");
        let said = errors("AddressInfo(a nowhere0:eth)");
        assert!(said.contains("not a recognizable address: there is no interface 'nowhere0' here"), "{said}");
    }
}
