//! Rules of CTXDispatchers as the user writes them: what packets must have, and where they go then.

use super::pattern::{Clause, Pattern};
use std::net::Ipv4Addr;

/// What a rule says of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Nothing,
    Drop,
    Output(usize),
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) pattern: Pattern,
    pub(super) target: Target,
    /// Whether it is the one for everything else, by its form; others that match everything are not.
    pub(super) is_default: bool,
}

/// Where a packet that begins with an IP header without options has what words ask for.
const PROTOCOL: usize = 9;
const HOSTS: Offsets = Offsets { src: 12, dst: 16 };
const PORTS: Offsets = Offsets { src: 20, dst: 22 };

struct Offsets {
    src: usize,
    dst: usize,
}

impl Offsets {
    fn of(&self, side: Side) -> usize {
        match side {
            Side::Src => self.src,
            Side::Dst => self.dst,
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Src,
    Dst,
}

/// The ports that names stand for.
pub(super) type Ports<'p> = &'p dyn Fn(&str) -> Option<u16>;

/// A rule's words, one after the other.
struct Words<'t>(std::vec::IntoIter<&'t str>);

impl<'t> Words<'t> {
    /// The next word, which belongs to one before it.
    fn after(&mut self, word: &str, what: &str) -> Result<&'t str, String> {
        self.0.next().ok_or_else(|| format!("{what} expected behind '{word}'"))
    }
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// What is wrong with it, without the rule's number.
    pub(super) fn parse(text: &str, ports: Ports<'_>) -> Result<Rule, String> {
        let text = text.replace("&&", " ");
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let target = take_target(&mut words);
        let is_default = matches!(*words, ["-"]);
        let mut pattern = Pattern::default();
        if !is_default {
            let mut words = Words(words.into_iter());
            while let Some(word) = words.0.next() {
                pattern.clauses.extend(term(without_hints(word)?, &mut words, ports)?);
            }
        }
        Ok(Rule { pattern, target, is_default })
    }
}

/// Takes off the end of a rule what it says of the output; a rule needs something before it.
fn take_target(words: &mut Vec<&str>) -> Target {
    let target = match *words.as_slice() {
        [.., "ip", "proto", _] | [.., "src" | "dst", "port", _] => Target::Nothing,
        [_, .., word] => said_target(word),
        _ => Target::Nothing,
    };
    if target != Target::Nothing {
        words.pop();
    }
    if words.len() > 1 && words.last() == Some(&"keep") {
        words.pop();
    }
    target
}

fn said_target(word: &str) -> Target {
    match word.parse::<i64>() {
        Ok(output) => usize::try_from(output).map_or(Target::Drop, Target::Output),
        Err(_) if word == "drop" => Target::Drop,
        Err(_) => Target::Nothing,
    }
}

/// A word without what says how FastClick is to keep its values.
fn without_hints(word: &str) -> Result<&str, String> {
    let word = word.strip_suffix('!').filter(|word| !word.is_empty()).unwrap_or(word);
    let Some((word, hint)) = word.split_once(':') else { return Ok(word) };
    let is_hash = |size: &str| !size.is_empty() && size.bytes().all(|digit| digit.is_ascii_digit());
    if hint == "ARRAY" || hint.strip_prefix("HASH-").is_some_and(is_hash) {
        Ok(word)
    } else {
        Err(format!("':HASH-n' or ':ARRAY' expected, not ':{hint}'"))
    }
}

/// The clause of a term that begins with this word; none if all packets meet it.
fn term(word: &str, words: &mut Words<'_>, ports: Ports<'_>) -> Result<Option<Clause>, String> {
    match word {
        "agg" | "AGG" | "thread" | "THREAD" => Ok(None),
        "ip" => match words.after(word, "'proto'")? {
            "proto" => {
                let protocol = protocol(without_hints(words.after("proto", "protocol")?)?)?;
                clause(PROTOCOL, &format!("{protocol:02x}"), None)
            }
            other => Err(format!("'proto' expected behind 'ip', not '{other}'")),
        },
        "src" => of_side(Side::Src, word, words, ports),
        "dst" => of_side(Side::Dst, word, words, ports),
        _ => bytes(word, words),
    }
}

/// The rest of a term about the source or the destination.
fn of_side(
    side: Side,
    word: &str,
    words: &mut Words<'_>,
    ports: Ports<'_>,
) -> Result<Option<Clause>, String> {
    match words.after(word, "'host' or 'port'")? {
        "host" => {
            let host = without_hints(words.after("host", "address")?)?;
            let host: Ipv4Addr = host.parse().map_err(|_| format!("IP address expected, not '{host}'"))?;
            clause(HOSTS.of(side), &format!("{:08x}", host.to_bits()), None)
        }
        "port" => {
            let port = without_hints(words.after("port", "number")?)?;
            let number = port.parse().ok().or_else(|| ports(port));
            let number: u16 = number.ok_or_else(|| format!("port expected, not '{port}'"))?;
            clause(PORTS.of(side), &format!("{number:04x}"), None)
        }
        "net" => Err(format!("'{word} net' is not implemented; for 10.1.0.0/16 say {}/0a01", HOSTS.of(side))),
        other => Err(format!("'host' or 'port' expected behind '{word}', not '{other}'")),
    }
}

fn protocol(word: &str) -> Result<u8, String> {
    match word {
        "tcp" => Ok(6),
        "udp" => Ok(17),
        "icmp" => Ok(1),
        _ => match word.parse().ok().or_else(|| router::machine_protocol(word)) {
            Some(protocol) if protocol > 0 => Ok(protocol),
            _ => Err(format!("protocol expected, not '{word}'")),
        },
    }
}

/// A term `OFFSET/VALUE` or `OFFSET/VALUE/MASK`, or one of Classifier's.
fn bytes(word: &str, words: &mut Words<'_>) -> Result<Option<Clause>, String> {
    // Classifier has blanks behind the sign.
    let (word, negated) = match word.strip_prefix('!') {
        Some("") => (without_hints(words.after(word, "OFFSET/VALUE")?)?, true),
        Some(word) => (word, true),
        None => (word, false),
    };
    let place = word.strip_prefix("ip").unwrap_or(word);
    let place = place.strip_prefix('+').unwrap_or(place);
    let (offset, rest) = place.split_once('/').ok_or_else(|| format!("'{word}' is no term"))?;
    if offset.strip_prefix('-').is_some_and(|digits| digits.parse::<u32>().is_ok()) {
        return Err(format!("'{word}' lies before the packet"));
    }
    let offset = match offset.parse::<u32>() {
        Ok(offset) => offset as usize,
        Err(_) => return Err(format!("'{word}' is no term: offset expected, not '{offset}'")),
    };
    let (value, mask) = match rest.split_once(['/', '%']) {
        Some((value, mask)) => (value, Some(mask)),
        None => (rest, None),
    };
    if negated {
        return Ok(raw(offset, value, mask)?.map(|clause| Clause { negated, ..clause }));
    }
    clause(offset, value, mask)
}

/// A clause, or none if its value is 0 under its mask: FastClick takes it for all values then, with a flow's state for each.
fn clause(offset: usize, value: &str, mask: Option<&str>) -> Result<Option<Clause>, String> {
    Ok(raw(offset, value, mask)?.filter(|clause| clause.bytes.iter().any(|test| test.value != 0)))
}

/// A clause as it stands there.
fn raw(offset: usize, value: &str, mask: Option<&str>) -> Result<Option<Clause>, String> {
    let text = match mask {
        Some(mask) => {
            let (value, mask) = (whole_bytes(value, '0'), whole_bytes(mask, '0'));
            let digits = value.len().max(mask.len());
            // A rule may be longer than the widths that formats take.
            let [value, mask] = [value, mask].map(|text| {
                let zeros = "0".repeat(digits - text.len());
                text + &zeros
            });
            format!("{offset}/{value}%{mask}")
        }
        None => format!("{offset}/{}", whole_bytes(value, '?')),
    };
    Ok(Pattern::parse(&text)?.clauses.pop())
}

/// Digits, with this one in front if their number is odd.
fn whole_bytes(digits: &str, front: char) -> String {
    if digits.len().is_multiple_of(2) { digits.to_owned() } else { format!("{front}{digits}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        Rule::parse(text, &|name| (name == "web").then_some(80)).unwrap()
    }

    /// What Classifier takes a pattern for.
    fn same(text: &str, classifier: &str) {
        assert_eq!(rule(text).pattern, Pattern::parse(classifier).unwrap(), "{text}");
    }

    #[test]
    fn words_mean_the_clauses_they_stand_for() {
        same("ip proto tcp", "9/06");
        same("ip proto 6 3", "9/06");
        same(
            "src host 10.0.0.1 && dst host 1.2.3.4! src port 1 dst port web 3",
            "12/0a000001 16/01020304 20/0001 22/0050",
        );
        same("ip proto udp&&22/0050:HASH-3!", "9/11 22/0050");
        same("agg 9/06 thread:ARRAY! 1", "9/06");
        same("ip+9/06 ip9/06 +9/06", "9/06 9/06 9/06");
        same("! 12/0800 !13/00 0", "!12/0800 !13/00");
    }

    /// A rule that is longer than any format's width is a rule or refused.
    #[test]
    fn long_values_and_masks() {
        let long = "f".repeat(140_000);
        let _ = Rule::parse(&format!("12/0800/{long}"), &|_| None);
        let _ = Rule::parse(&format!("12/{long}/ff"), &|_| None);
    }

    #[test]
    fn missing_digits_and_masks_are_filled_up() {
        same("9/6", "9/?6");
        same("12/800/ffff", "12/0800%ffff");
        same("12/08/ffff", "12/0800%ffff");
        same("12/0806%0f0f", "12/0806%0f0f");
        same("12/0806/f", "12/0806%0f00");
    }

    #[test]
    fn values_of_zero() {
        same("26/00000000/ffffffff", "");
        same("9/06 12/0/ffffffff 20/f0/0f", "9/06");
        same("dst port 0 src host 0.0.0.0", "");
        assert!(!rule("9/00").is_default && rule("- drop").is_default);
    }

    #[test]
    fn the_end_of_a_rule_says_where_packets_go() {
        let target = |text: &str| rule(text).target;
        assert_eq!(target("9/06 12"), Target::Output(12));
        assert_eq!(target("- keep 1"), Target::Output(1));
        assert_eq!(target("9/06 keep"), Target::Nothing);
        assert_eq!([target("-\tdrop"), target("- -1")], [Target::Drop; 2]);
        assert_eq!(target("ip proto 6"), Target::Nothing);
        assert_eq!(target("dst port 80"), Target::Nothing);
        assert_eq!(target("agg 0"), Target::Output(0));
    }

    #[test]
    fn wrong_rules_are_refused_with_a_reason() {
        for (text, part) in [
            ("src net 10.0.0.0/8", "'src net' is not implemented"),
            ("ip", "'proto' expected behind 'ip'"),
            ("ip proto", "protocol expected behind 'proto'"),
            ("ip proto 0", "protocol expected, not '0'"),
            ("ip dst 1.2.3.4", "'proto' expected behind 'ip', not 'dst'"),
            ("dst 1.2.3.4", "'host' or 'port' expected behind 'dst', not '1.2.3.4'"),
            ("dst host 1.2.3", "IP address expected, not '1.2.3'"),
            ("dst port 65536 1", "port expected, not '65536'"),
            ("-2/0800", "lies before the packet"),
            ("9/06:LIST", "':HASH-n' or ':ARRAY' expected"),
            ("9/06:HASH-", "':HASH-n' or ':ARRAY' expected"),
            ("drop", "'drop' is no term"),
            ("9/06 - 1", "'-' is no term"),
            ("x/06", "offset expected, not 'x'"),
            ("9/0g", "less than 2 hex digits"),
            ("9/", "less than 2 hex digits"),
        ] {
            let error = Rule::parse(text, &|_| None).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
