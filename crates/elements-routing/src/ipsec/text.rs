//! Associations and policies as words: in arguments, in commands, and as handlers show them.

use super::associations::Sa;
use elements_shared::hexadecimal::from_hexadecimal;
use elements_shared::ipsec_port::{
    Action, Algorithm, Association, Direction, KeyMaterial, Limits, Mode, Policy, Selector, Template,
};
use elements_shared::key_argument::HIDDEN;
use elements_shared::route_port::Destination;
use lang::conf::{join_args, keyword, split_args, split_spaces, unquote};
use std::net::{IpAddr, Ipv4Addr};

/// Words, one after the other.
struct Words<'w>(std::slice::Iter<'w, String>);

impl Words<'_> {
    fn word(&mut self, what: &str) -> Result<&str, String> {
        self.0.next().map(String::as_str).ok_or_else(|| format!("{what} is missing"))
    }

    fn address(&mut self, what: &str) -> Result<IpAddr, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("{what}: '{word}' is no IP address"))
    }

    fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        let number =
            word.strip_prefix("0x").map_or_else(|| word.parse(), |digits| u64::from_str_radix(digits, 16));
        number
            .ok()
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| format!("{what}: '{word}' is no such number"))
    }

    fn mode(&mut self) -> Result<Mode, String> {
        match self.word("mode")? {
            "tunnel" => Ok(Mode::Tunnel),
            "transport" => Ok(Mode::Transport),
            other => Err(format!("mode is tunnel or transport, not '{other}'")),
        }
    }
}

/// An association: `SOURCE DESTINATION SPI ALGORITHM key|keyfile KEY [reqid N] [mode tunnel|transport] [esn] [window N] [udp PORT PORT]
/// [soft-bytes N] [hard-bytes N] [soft-packets N] [hard-packets N] [soft-seconds N] [hard-seconds N]`. Seconds are from `now_ns` on.
///
/// # Errors
/// A sentence that quotes no key.
pub(crate) fn association(words: &[String], now_ns: i64, read: bool) -> Result<Association, String> {
    let mut words = Words(words.iter());
    let (source, destination) = (words.address("SOURCE")?, words.address("DESTINATION")?);
    let spi = words.number("SPI")?;
    let name = words.word("ALGORITHM")?;
    let algorithm = Algorithm::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm);
    let algorithm = algorithm.ok_or_else(|| {
        let known: Vec<&str> = Algorithm::ALL.iter().map(|(name, _)| *name).collect();
        format!("'{name}' is none of the algorithms {}", known.join(", "))
    })?;
    let key = match words.word("key")? {
        "key" => {
            let digits = words.word("KEY")?;
            from_hexadecimal(digits.as_bytes()).ok_or("the key does not consist of hexadecimal digits")?
        }
        "keyfile" => {
            let name = words.word("KEYFILE")?;
            if read {
                let bytes =
                    elements_shared::files::read(name).map_err(|why| format!("keyfile {name}: {why}"))?;
                from_hexadecimal(&bytes).unwrap_or(bytes)
            } else {
                Vec::new()
            }
        }
        _ => return Err("expected 'key DIGITS' or 'keyfile FILE' behind the algorithm".to_owned()),
    };
    let mut of = Association {
        source,
        destination,
        spi,
        reqid: 0,
        mode: Mode::Tunnel,
        algorithm,
        key: KeyMaterial::new(key),
        extended: false,
        window: 1024,
        ports: None,
        soft: Limits::NONE,
        hard: Limits::NONE,
        used: (0, 0),
    };
    while let Some(word) = words.0.next() {
        match word.as_str() {
            "reqid" => of.reqid = words.number("reqid")?,
            "mode" => of.mode = words.mode()?,
            "esn" => of.extended = true,
            "window" => of.window = words.number("window")?,
            "udp" => of.ports = Some((words.number("source port")?, words.number("destination port")?)),
            "soft-bytes" => of.soft.bytes = words.number("soft-bytes")?,
            "hard-bytes" => of.hard.bytes = words.number("hard-bytes")?,
            "soft-packets" => of.soft.packets = words.number("soft-packets")?,
            "hard-packets" => of.hard.packets = words.number("hard-packets")?,
            "soft-seconds" => of.soft.at_ns = after(words.number("soft-seconds")?, now_ns),
            "hard-seconds" => of.hard.at_ns = after(words.number("hard-seconds")?, now_ns),
            // It may be part of a key.
            _ => return Err("an unknown word behind the key".to_owned()),
        }
    }
    Ok(of)
}

/// A configuration string without the keys of its associations; none if it has none.
pub(crate) fn shown(config: &str) -> Option<String> {
    let (mut args, mut found) = (split_args(config), false);
    for arg in &mut args {
        let Some(("SA", words)) = keyword(arg) else { continue };
        let mut words = split_spaces(words);
        if let Some(at) = words.iter().position(|word| unquote(word) == "key") {
            words.iter_mut().skip(at + 1).take(1).for_each(|word| HIDDEN.clone_into(word));
            (*arg, found) = (format!("SA {}", words.join(" ")), true);
        }
    }
    found.then(|| join_args(&args))
}

/// An association's destination and number.
///
/// # Errors
/// A sentence.
pub(crate) fn name(words: &[String]) -> Result<(IpAddr, u32), String> {
    let mut words = Words(words.iter());
    Ok((words.address("DESTINATION")?, words.number("SPI")?))
}

fn after(seconds: u64, now_ns: i64) -> u64 {
    (now_ns as u64).saturating_add(seconds.saturating_mul(1_000_000_000))
}

/// A policy: `out|in SOURCE/LEN DESTINATION/LEN protect|bypass|discard [SOURCE DESTINATION] [reqid N] [spi N] [mode tunnel|transport] [proto N]
/// [sport N] [dport N] [priority N] [tag N]`.
///
/// # Errors
/// A sentence.
pub(crate) fn policy(words: &[String]) -> Result<Policy, String> {
    let mut words = Words(words.iter());
    let direction = match words.word("direction")? {
        "out" => Direction::Out,
        "in" => Direction::In,
        other => return Err(format!("a policy is for out or in, not '{other}'")),
    };
    let (source, destination) = (prefix(words.word("SOURCE")?)?, prefix(words.word("DESTINATION")?)?);
    let unspecified = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let mut template =
        Template { source: unspecified, destination: unspecified, spi: 0, reqid: 0, mode: Mode::Tunnel };
    let action = words.word("action")?.to_owned();
    match action.as_str() {
        "protect" => {
            template.source = words.address("the tunnel's source")?;
            template.destination = words.address("the tunnel's destination")?;
        }
        "bypass" | "discard" => {}
        other => return Err(format!("the action is protect, bypass or discard, not '{other}'")),
    }
    let mut selector =
        Selector { source, destination, protocol: 0, source_port: (0, 0), destination_port: (0, 0) };
    let (mut priority, mut tag) = (0, 0);
    while let Some(word) = words.0.next() {
        match word.as_str() {
            "reqid" => template.reqid = words.number("reqid")?,
            "spi" => template.spi = words.number("spi")?,
            "mode" => template.mode = words.mode()?,
            "proto" => selector.protocol = words.number("proto")?,
            "sport" => selector.source_port = (words.number("sport")?, u16::MAX),
            "dport" => selector.destination_port = (words.number("dport")?, u16::MAX),
            "priority" => priority = words.number("priority")?,
            "tag" => tag = words.number("tag")?,
            other => return Err(format!("'{other}' is unknown in a policy")),
        }
    }
    let action = match action.as_str() {
        "protect" => Action::Protect(template),
        "bypass" => Action::Bypass,
        _ => Action::Discard,
    };
    Ok(Policy { direction, tag, selector, priority, action })
}

fn prefix(word: &str) -> Result<Destination, String> {
    let (address, len) = word.split_once('/').unwrap_or((word, ""));
    let wrong = || format!("'{word}' is no prefix, as in 10.0.1.0/24");
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let len = if len.is_empty() { Some(longest) } else { len.parse().ok() };
    let len = len.filter(|len| *len <= longest).ok_or_else(wrong)?;
    let bits = super::flow::bits(address) & super::flow::mask(len);
    Ok(Destination { address: super::flow::address(address.is_ipv6(), bits), len })
}

fn mode(of: Mode) -> &'static str {
    match of {
        Mode::Tunnel => "tunnel",
        Mode::Transport => "transport",
    }
}

/// An association in a line, without its key.
pub(crate) fn show_association(sa: &Sa, now_ns: i64) -> String {
    let usage = sa.usage();
    let extended = if sa.extended { " esn" } else { "" };
    let ports = sa.ports.map_or(String::new(), |(from, to)| format!(" udp {from} {to}"));
    let state = if sa.is_good(now_ns) { "" } else { " expired" };
    let mtu = sa.said_mtu(now_ns).map_or(String::new(), |mtu| format!(" mtu {mtu}"));
    format!(
        "{} {} 0x{:08x} {} {} reqid {}{extended}{ports} packets {} bytes {} sent {} received {}{mtu}{state}\n",
        sa.source,
        sa.destination,
        sa.spi,
        sa.of.algorithm.name(),
        mode(sa.mode),
        sa.reqid,
        usage.packets,
        usage.bytes,
        usage.sent,
        usage.received
    )
}

/// A policy in a line, as a command would have it.
pub(crate) fn show_policy(policy: &Policy) -> String {
    let direction = if policy.direction == Direction::Out { "out" } else { "in" };
    let of = &policy.selector;
    let prefix = |of: &Destination| format!("{}/{}", of.address, of.len);
    let mut line = format!("{direction} {} {}", prefix(&of.source), prefix(&of.destination));
    match policy.action {
        Action::Protect(to) => {
            line += &format!(
                " protect {} {} reqid {} mode {}",
                to.source,
                to.destination,
                to.reqid,
                mode(to.mode)
            );
            if to.spi != 0 {
                line += &format!(" spi 0x{:08x}", to.spi);
            }
        }
        Action::Bypass => line += " bypass",
        Action::Discard => line += " discard",
    }
    for (word, wanted, value) in [
        ("proto", of.protocol != 0, u32::from(of.protocol)),
        ("sport", of.source_port.1 != 0, u32::from(of.source_port.0)),
        ("dport", of.destination_port.1 != 0, u32::from(of.destination_port.0)),
        ("priority", policy.priority != 0, policy.priority),
        ("tag", policy.tag != 0, policy.tag),
    ] {
        if wanted {
            line += &format!(" {word} {value}");
        }
    }
    line + "\n"
}
