//! File names that differ from flow to flow: a pattern with escapes, as of ToIPFlowDumps.

use std::fmt::Write;
use std::net::Ipv4Addr;

/// What is known of a flow when its file gets a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) aggregate: u32,
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
    pub(super) ports: (u16, u16),
    pub(super) tcp: bool,
}

/// An escape: `%`, `0`, the least width, a dot and a number, a letter.
struct Escape {
    zeros: bool,
    width: usize,
    part: Option<u32>,
    letter: char,
}

/// Reads digits off the front of a text.
fn pop_digits<'t>(text: &mut &'t str) -> &'t str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits
}

impl Escape {
    /// Reads what follows a per cent sign.
    fn pop(rest: &mut &str) -> Option<Escape> {
        let zeros = rest.starts_with('0');
        // Longer than any file name may be, a width is a mistake.
        let width = pop_digits(rest).parse().unwrap_or(0).min(255);
        let part = rest.strip_prefix('.').map(|after| {
            *rest = after;
            pop_digits(rest).parse().unwrap_or(0)
        });
        let letter = rest.chars().next()?;
        *rest = &rest[letter.len_utf8()..];
        Some(Escape { zeros, width, part, letter })
    }

    /// A part of a number of 32 bits: bytes 0 to 3, halves 4 and 5, or all of it.
    fn number(&self, number: u32) -> u32 {
        match self.part {
            Some(byte @ 0..=3) => number >> (8 * (3 - byte)) & 0xff,
            Some(half @ 4..=5) => number >> (16 * (5 - half)) & 0xffff,
            _ => number,
        }
    }

    fn address(&self, address: Ipv4Addr) -> String {
        match self.part {
            Some(byte @ 0..=3) => address.octets()[byte as usize].to_string(),
            _ => address.to_string(),
        }
    }

    /// What stands for it; `None` if its letter means nothing.
    fn value(&self, flow: &Named) -> Option<String> {
        let number = self.number(flow.aggregate);
        Some(match self.letter {
            'n' => number.to_string(),
            'x' => format!("{number:x}"),
            'X' => format!("{number:X}"),
            's' => self.address(flow.src),
            'd' => self.address(flow.dst),
            'S' => flow.ports.0.to_string(),
            'D' => flow.ports.1.to_string(),
            'p' => if flow.tcp { "T" } else { "U" }.to_owned(),
            '%' => "%".to_owned(),
            _ => return None,
        })
    }
}

/// Fills in a pattern.
///
/// # Errors
/// An escape that means nothing.
pub(super) fn expand(pattern: &str, flow: &Named) -> Result<String, String> {
    let (mut name, mut rest) = (String::new(), pattern);
    while let Some((before, after)) = rest.split_once('%') {
        name.push_str(before);
        rest = after;
        let escape = Escape::pop(&mut rest).ok_or("bad filename pattern")?;
        let value = escape.value(flow).ok_or_else(|| format!("bad filename pattern '%{}'", escape.letter))?;
        let fill = if escape.zeros { "0" } else { "_" };
        // Writing to a string does not fail.
        let _ = write!(name, "{}{value}", fill.repeat(escape.width.saturating_sub(value.len())));
    }
    Ok(name + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_expand_to_what_the_flow_says() {
        let flow = Named {
            aggregate: 0x0102_030f,
            src: Ipv4Addr::new(10, 0, 0, 1),
            dst: Ipv4Addr::new(20, 0, 0, 2),
            ports: (1000, 80),
            tcp: true,
        };
        for (pattern, name) in [
            ("f", "f"),
            ("%n", "16909071"),
            ("%.0n.%.3n.%.4n.%.5n", "1.15.258.783"),
            ("%x %X %.5X", "102030f 102030F 30F"),
            ("%012n%10x", "000016909071___102030f"),
            ("%s/%.0s/%.3d", "10.0.0.1/10/2"),
            ("%d:%S:%D%p%%", "20.0.0.2:1000:80T%"),
        ] {
            assert_eq!(expand(pattern, &flow).as_deref(), Ok(name), "{pattern}");
        }
        assert_eq!(expand("%q", &flow), Err("bad filename pattern '%q'".to_owned()));
        assert_eq!(expand("a%0", &flow), Err("bad filename pattern".to_owned()));
    }
}
