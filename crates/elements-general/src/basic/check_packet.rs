//! Compares packets with what is expected.
//!
//! ```click
//! CheckPacket([KEYWORDS])
//! ```
//!
//! Prints the differences between each packet and what is expected. Then drops the packet, whether it matches or not,
//! as in Click.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DATA` (string): what packets must contain, from DATA_OFFSET to their end. `DATA_OFFSET` (integer, default 0).
//! - `LENGTH` (or `LENGTH_EQ`), `LENGTH_GE`, `LENGTH_LE` (integer): the required length: exact, minimum or maximum.
//!   Give at most one of them.
//! - `ALIGNMENT` (`MODULUS OFFSET`): checked, but otherwise ignored: packets need no alignment here.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA abc, LIMIT 1) -> CheckPacket(DATA abc, LENGTH 3) -> Discard
//! ```
//!
//! # See also
//! CheckLength, Print

use packet::Packet;
use router::{
    Bytes, Class, Config, ConfigError, Cx, Element, Level, PerPacket, Raw, Simple, Verdict, parse_integer,
};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckPacket", create).doc(router::manual!("check_packet.rs"));

/// What a length must be.
#[derive(Clone, Copy)]
enum Length {
    Any,
    Equal(usize),
    AtLeast(usize),
    AtMost(usize),
}

struct CheckPacket {
    data: Option<Vec<u8>>,
    offset: usize,
    length: Length,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut data, mut offset, mut alignment) = (None::<Bytes>, 0u32, Raw::default());
    let [mut length, mut equal, mut least, mut most] = [-1i32; 4];
    config
        .args()
        .keyword("DATA", &mut data)
        .keyword("DATA_OFFSET", &mut offset)
        .keyword("LENGTH", &mut length)
        .keyword("LENGTH_EQ", &mut equal)
        .keyword("LENGTH_GE", &mut least)
        .keyword("LENGTH_LE", &mut most)
        .keyword("ALIGNMENT", &mut alignment)
        .finish()?;
    let given = |length: i32| usize::try_from(length).ok();
    let lengths: Vec<Length> = [
        given(equal).or(given(length)).map(Length::Equal),
        given(least).map(Length::AtLeast),
        given(most).map(Length::AtMost),
    ]
    .into_iter()
    .flatten()
    .collect();
    if lengths.len() > 1 {
        return Err("specify at most one of LENGTH_EQ, LENGTH_GE, and LENGTH_LE".into());
    }
    check_alignment(&alignment.0)?;
    let length = lengths.first().copied().unwrap_or(Length::Any);
    let (data, offset) = (data.map(|data| data.0), offset as usize);
    Ok(Box::new(PerPacket(CheckPacket { data, offset, length })))
}

fn check_alignment(text: &str) -> Result<(), String> {
    let words = lang::conf::split_spaces(text);
    let numbers: Option<Vec<i128>> = words.iter().map(|word| parse_integer(word)).collect();
    match numbers.as_deref() {
        Some([]) => Ok(()),
        Some(&[modulus, offset]) if modulus > 1 && (0..modulus).contains(&offset) => Ok(()),
        _ => Err("bad alignment modulus and/or offset".to_owned()),
    }
}

impl CheckPacket {
    /// What is wrong with a packet's length.
    fn bad_length(&self, length: usize) -> Option<String> {
        let wanted = match self.length {
            Length::Equal(wanted) if length != wanted => format!("wanted {wanted}"),
            Length::AtLeast(least) if length < least => format!("wanted > {}", least as i64 - 1),
            Length::AtMost(most) if length > most => format!("wanted < {}", most + 1),
            _ => return None,
        };
        Some(format!("bad length {length} ({wanted})"))
    }

    /// What is wrong with its contents.
    fn bad_data(&self, found: &[u8]) -> Option<String> {
        let data = self.data.as_ref()?;
        let wanted = data.len().saturating_add(self.offset);
        let complaint =
            |what: &str| Some(format!("data too {what} ({} bytes, wanted {wanted})", found.len()));
        match found.len().cmp(&wanted) {
            std::cmp::Ordering::Less => complaint("short"),
            std::cmp::Ordering::Greater => complaint("long"),
            std::cmp::Ordering::Equal => {
                (found[self.offset..] != data[..]).then(|| "bad data (does not match)".to_owned())
            }
        }
    }
}

impl Simple for CheckPacket {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let complaints = [self.bad_length(packet.len()), self.bad_data(packet.data())];
        for complaint in complaints.iter().flatten() {
            cx.say(Level::Warning, format_args!("{} :: CheckPacket: {complaint}", cx.name()));
        }
        Verdict::Drop("checked")
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    #[test]
    fn says_what_is_wrong_with_a_packet() {
        let said = |arguments: &str| {
            run(&format!(
                "InfiniteSource(DATA abcd, LIMIT 1, STOP true) -> c :: CheckPacket({arguments}) -> Print -> Discard"
            ))
        };
        for (arguments, expected) in [
            ("", ""),
            ("DATA abcd, LENGTH 4, ALIGNMENT 4 0", ""),
            ("DATA cd, DATA_OFFSET 2, LENGTH_GE 4", ""),
            ("LENGTH 5", "c :: CheckPacket: bad length 4 (wanted 5)\n"),
            ("LENGTH_GE 5", "c :: CheckPacket: bad length 4 (wanted > 4)\n"),
            ("LENGTH_LE 3", "c :: CheckPacket: bad length 4 (wanted < 4)\n"),
            ("DATA abcde", "c :: CheckPacket: data too short (4 bytes, wanted 5)\n"),
            ("DATA ab", "c :: CheckPacket: data too long (4 bytes, wanted 2)\n"),
            ("DATA abce", "c :: CheckPacket: bad data (does not match)\n"),
        ] {
            assert_eq!(said(arguments), expected, "{arguments}");
        }
        let wrong = |arguments: &str| errors(&format!("Idle -> CheckPacket({arguments}) -> Discard"));
        assert!(wrong("LENGTH 1, LENGTH_GE 2").contains("specify at most one of"));
        assert!(wrong("ALIGNMENT 4 4").contains("bad alignment modulus and/or offset"));
    }
}
