//! What lines about packets begin with: labels and times.

use packet::Packet;
use std::fmt::Write;

/// Appends what a line about a packet begins with: the label, unless it is empty, and if `timestamp` its time.
pub fn write_label(line: &mut String, label: &str, timestamp: bool, packet: &Packet) {
    if !label.is_empty() {
        line.push_str(label);
        line.push_str(": ");
    }
    if timestamp {
        write_time(line, packet.timestamp_ns());
        line.push_str(": ");
    }
}

/// Appends a time as seconds since the epoch, with six digits behind the point, nine if it is not a whole number of
/// microseconds.
pub fn write_time(line: &mut String, time_ns: i64) {
    const NS_PER_S: u64 = 1_000_000_000;
    let sign = if time_ns < 0 { "-" } else { "" };
    let (s, ns) = (time_ns.unsigned_abs() / NS_PER_S, time_ns.unsigned_abs() % NS_PER_S);
    // Writing to a string does not fail.
    let _ = match ns % 1000 {
        0 => write!(line, "{sign}{s}.{:06}", ns / 1000),
        _ => write!(line, "{sign}{s}.{ns:09}"),
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_negative_time_keeps_its_sign() {
        let text = |ns| {
            let mut line = String::new();
            super::write_time(&mut line, ns);
            line
        };
        assert_eq!(
            [text(1_500_000_001), text(0), text(-1_500_000_000)],
            ["1.500000001", "0.000000", "-1.500000"]
        );
    }
}
