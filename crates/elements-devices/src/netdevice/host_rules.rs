//! FromDevice's argument HOST: which frames are left to the kernel, in words.

use device::xdp::Rule;
use router::{FromArg, NetOrHost, Scope};
use wire::ethernet::ether_type;
use wire::{Ipv4Net, Ipv6Net};

/// The words that HOST knows beside prefixes.
const WORDS: [&str; 16] = [
    "arp",
    "lldp",
    "icmp",
    "igmp",
    "ospf",
    "pim",
    "vrrp",
    "bgp",
    "ssh",
    "ldp",
    "rip",
    "bfd",
    "dhcp",
    "tcp:PORT",
    "udp:PORT",
    "proto:NUMBER",
];

/// What is left to the kernel.
#[derive(Default)]
pub(super) struct HostRules(pub(super) Vec<Rule>);

impl FromArg for HostRules {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let mut rules = Vec::new();
        for word in text.split_whitespace() {
            rules.extend(rules_of(word, scope)?);
        }
        Ok(HostRules(rules))
    }
}

/// The rules of a word of HOST: `WHAT`, `PREFIX` or `WHAT@PREFIX`.
fn rules_of(word: &str, scope: Scope<'_>) -> Result<Vec<Rule>, String> {
    let destination = |text: &str| {
        if let Ok(NetOrHost(net)) = NetOrHost::<Ipv4Net>::from_arg(text, scope) {
            return Ok(Rule::destination(net.addr().into(), net.len()));
        }
        match NetOrHost::<Ipv6Net>::from_arg(text, scope) {
            Ok(NetOrHost(net)) => Ok(Rule::destination(net.addr().into(), net.len())),
            Err(_) => Err(format!("'{word}' is neither an IP prefix nor one of {}", WORDS.join(", "))),
        }
    };
    let (what, to) = word.split_once('@').map_or((word, None), |(what, to)| (what, Some(to)));
    let families = || match to {
        Some(to) => destination(to).map(|rule| vec![rule]),
        None => Ok(vec![Rule::ipv4(), Rule::ipv6()]),
    };
    let number = |text: &str| text.parse().map_err(|_| format!("'{word}': a number is expected"));
    let upper = |protocol: u8, ports: &[u16]| {
        let families = families()?.into_iter().map(|rule| rule.protocol(protocol));
        let of_port = |rule: Rule| ports.iter().map(move |&port| rule.clone().port(port));
        Ok(if ports.is_empty() { families.collect() } else { families.flat_map(of_port).collect() })
    };
    match what {
        "arp" if to.is_none() => Ok(vec![Rule::ether_type(ether_type::ARP)]),
        "lldp" if to.is_none() => Ok(vec![Rule::ether_type(0x88cc)]),
        "icmp" => {
            let protocol =
                |rule: Rule| if rule == Rule::ipv6() { rule.protocol(58) } else { rule.protocol(1) };
            match to {
                Some(to) if to.contains(':') => Ok(vec![destination(to)?.protocol(58)]),
                Some(to) => Ok(vec![destination(to)?.protocol(1)]),
                None => Ok([Rule::ipv4(), Rule::ipv6()].into_iter().map(protocol).collect()),
            }
        }
        "igmp" => upper(2, &[]),
        "ospf" => upper(89, &[]),
        "pim" => upper(103, &[]),
        "vrrp" => upper(112, &[]),
        "bgp" => upper(6, &[179]),
        "ssh" => upper(6, &[22]),
        "ldp" => Ok([upper(6, &[646])?, upper(17, &[646])?].concat()),
        "rip" => upper(17, &[520, 521]),
        "bfd" => upper(17, &[3784, 3785, 4784]),
        "dhcp" => upper(17, &[67, 68, 546, 547]),
        _ => match what.split_once(':') {
            Some(("tcp", port)) => upper(6, &[number(port)?]),
            Some(("udp", port)) => upper(17, &[number(port)?]),
            Some(("proto", protocol)) => {
                let protocol =
                    protocol.parse().map_err(|_| format!("'{word}': a number up to 255 is expected"))?;
                upper(protocol, &[])
            }
            _ => destination(word).map(|rule| vec![rule]),
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn bad_words_are_refused() {
        for (words, error) in [
            ("10.0.0.1 frog", "'frog' is neither an IP prefix nor one of arp, lldp, icmp"),
            ("bgp@frog", "'bgp@frog' is neither"),
            ("arp@10.0.0.1", "'arp@10.0.0.1' is neither"),
            ("tcp:70000", "'tcp:70000': a number is expected"),
        ] {
            let said = errors(&format!("FromDevice(lo, HOST {words}) -> Discard"));
            assert!(said.contains(error), "{said}");
        }
    }
}
