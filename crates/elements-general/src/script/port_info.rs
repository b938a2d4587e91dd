//! Gives names to ports.
//!
//! ```click
//! PortInfo(NAME PORT[/PROTOCOL] [NAME...], ...)
//! ```
//!
//! Each name stands for the port wherever elements expect a TCP or UDP port: in the compound element that contains
//! the PortInfo, and in those within it. Lines of services(5) can be used as they are: everything after a word that
//! begins with `#` is ignored, and so are ports of other protocols. Names in the machine's own services(5) need no
//! PortInfo.
//!
//! Ports: none. Workers: replicated.
//!
//! # Arguments
//! - `NAME`: a name.
//! - `PORT` (integer, 0 to 65535), `PROTOCOL` (`tcp`, `udp`, or their numbers, default both): the port.
//!
//! # Example
//! ```click
//! PortInfo(game 27015/udp);
//! Idle -> UDPIPEncap(1.0.0.1, game, 2.0.0.2, game) -> Discard;
//! ```
//!
//! # See also
//! AddressInfo, AnnotationInfo

use router::{Class, Config, ConfigError, Element, Value};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("PortInfo", create).ports("0/0").phase(-10).doc(router::manual!("port_info.rs"));

struct PortInfo;

impl Element for PortInfo {}

/// What a port stands for: for which protocols, and its number.
fn read(text: &str) -> Option<Vec<Value>> {
    let (port, protocol) =
        text.split_once('/').map_or((text, None), |(port, protocol)| (port, Some(protocol)));
    let port = router::parse_integer(port).and_then(|port| u16::try_from(port).ok())?;
    Some(match protocol {
        None => vec![Value::TcpPort(port), Value::UdpPort(port)],
        Some("tcp" | "6") => vec![Value::TcpPort(port)],
        Some("udp" | "17") => vec![Value::UdpPort(port)],
        // No element asks for ports of others.
        Some(_) => Vec::new(),
    })
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut error = ConfigError::default();
    for argument in lang::conf::split_args(config.text()) {
        let mut words = lang::conf::split_spaces(&argument);
        let comment = words.iter().position(|word| word.starts_with('#'));
        words.truncate(comment.unwrap_or(words.len()));
        let Some((name, rest)) = words.split_first() else { continue };
        let Some((values, more)) = rest.split_first().and_then(|(port, more)| Some((read(port)?, more)))
        else {
            error.messages.push("expected 'NAME PORT/PROTO'".to_owned());
            continue;
        };
        for name in std::iter::once(name).chain(more) {
            values.iter().for_each(|&value| config.define(name, value));
        }
    }
    if error.messages.is_empty() { Ok(Box::new(PortInfo)) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    /// Names mean ports to encapsulators and to classifiers; within a compound only where they are said.
    #[test]
    fn names_mean_ports_in_their_compound_only() {
        let config = "PortInfo(here 1000, there 2000/udp other # comment);
            InfiniteSource(DATA a, LIMIT 1) -> UDPIPEncap(1.0.0.1, here, 2.0.0.2, other)
            -> c :: IPClassifier(src port there, dst port there, -); c[0] -> Discard;
            c[1] -> IPPrint(TIMESTAMP false) -> Counter(COUNT_CALL 1 stop) -> Discard; c[2] -> Discard";
        assert_eq!(run(config), "1.0.0.1.1000 > 2.0.0.2.2000: udp 9\n");
        let inside = "c :: { PortInfo(here 1); input -> output }; Idle -> c -> UDPIPEncap(1.0.0.1, here, 2.0.0.2, 5) -> Discard";
        assert!(errors(inside).contains("  SPORT: parse error\n"));
        assert!(errors("PortInfo(x 70000)").contains("expected 'NAME PORT/PROTO'"));
        assert!(errors("PortInfo(x # 80)").contains("expected 'NAME PORT/PROTO'"));
    }

    #[test]
    fn protocols_by_number_count_and_other_protocols_do_not() {
        let config = "PortInfo(here 1000/17, a#b 2000/6, here 1/sctp, # nothing, other 5/);
            InfiniteSource(DATA a, LIMIT 1) -> UDPIPEncap(1.0.0.1, here, 2.0.0.2, 3) -> IPPrint(TIMESTAMP false) -> Discard;
            DriverManager(wait 0.1)";
        assert_eq!(run(config), "1.0.0.1.1000 > 2.0.0.2.3: udp 9\n");
    }
}
