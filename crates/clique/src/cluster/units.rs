//! Quantities on the command line.

use cluster::plan::Nic;

/// Reads a rate: `10G`, `2.5Gbps`, `800M`; bits a second.
pub(super) fn rate(text: &str) -> Result<u64, String> {
    let short = text.strip_suffix("bps").unwrap_or(text);
    let (number, unit) = match short.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&short[..at], 1e3),
        Some((at, 'M')) => (&short[..at], 1e6),
        Some((at, 'G')) => (&short[..at], 1e9),
        Some((at, 'T')) => (&short[..at], 1e12),
        _ => (short, 1.0),
    };
    match number.parse::<f64>() {
        Ok(number) if (1.0..1e15).contains(&(number * unit)) => Ok((number * unit) as u64),
        _ => Err(format!("'{text}' is not a rate such as 10G or 800Mbps")),
    }
}

/// Reads how many there are of something: at least one, and no more than sums have room for.
pub(super) fn count<const MOST: usize>(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| format!("a number from 1 to {MOST} is expected"))
}

/// Reads an amount or a time. The nanoseconds of the longest time, added to others, fit into 64 bits.
pub(super) fn amount(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1e9).contains(number));
    number.ok_or_else(|| "a number from 0 to 1e9 is expected".to_owned())
}

/// Reads a kind of network card: `2x10G`.
pub(super) fn nic(text: &str) -> Result<Nic, String> {
    let wrong = || format!("'{text}' is not a kind of card such as 2x10G or 8x1G");
    let (ports, each) = text.split_once('x').ok_or_else(wrong)?;
    match ports.parse() {
        Ok(ports) if (1..=1_000).contains(&ports) => Ok(Nic { ports, rate: rate(each)? }),
        _ => Err(wrong()),
    }
}

/// A rate as people write it.
pub(super) fn rate_text(bits_per_second: f64) -> String {
    let (unit, name) = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        .into_iter()
        .find(|(unit, _)| bits_per_second >= *unit)
        .unwrap_or((1.0, ""));
    let text = format!("{:.3}", bits_per_second / unit);
    format!("{} {name}bps", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates as people write them, and what is none.
    #[test]
    fn rates_and_counts_are_read_as_people_write_them() {
        let read = ["10G", "2.5Gbps", "800M", "64000"].map(|text| rate(text).expect(text));
        assert_eq!(read, [10_000_000_000, 2_500_000_000, 800_000_000, 64_000]);
        assert!(["", "G", "-1G", "0", "0.5", "1e99", "ten", "1µ"].iter().all(|text| rate(text).is_err()));
        assert_eq!([rate_text(6.25e8), rate_text(1e10), rate_text(12.0)], ["625 Mbps", "10 Gbps", "12 bps"]);
        assert_eq!(nic("8x1G").map(|nic| (nic.ports, nic.rate)), Ok((8, 1_000_000_000)));
        assert!(["8", "0x1G", "ax1G", "8x"].iter().all(|text| nic(text).is_err()));
        assert!(
            ["0", "8", "-1", "x"].iter().all(|text| count::<7>(text).is_err()) && count::<7>("7") == Ok(7)
        );
        assert!(["nan", "-1", "1e10", "inf"].iter().all(|text| amount(text).is_err()));
        assert_eq!(amount("1e9"), Ok(1e9));
    }
}
