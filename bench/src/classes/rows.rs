//! What is measured of each class: `tests/stages.txt`.

use super::Position;
use super::sample::Sample;

/// A class, and the configuration that is measured.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) class: &'static str,
    pub(crate) stage: &'static str,
    pub(crate) sample: Sample,
    pub(crate) position: Position,
    /// How many of them stand one behind the other: the clock resolves several better than one.
    pub(crate) times: usize,
}

const STAGES: &str = include_str!("../../../tests/stages.txt");

/// The rows, by family.
///
/// # Errors
/// A line that is not as it should be.
pub(crate) fn rows() -> Result<Vec<Row>, String> {
    let lines = STAGES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = lines.map(|line| row(line).ok_or_else(|| format!("tests/stages.txt: what is '{line}'?")));
    rows.filter(|row| row.as_ref().map_or(true, |row| row.times > 0)).collect()
}

/// The first word of a text, and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    text.trim_start().split_once(' ')
}

fn row(line: &'static str) -> Option<Row> {
    let (class, rest) = word(line)?;
    let (sample, rest) = word(rest)?;
    let (position, rest) = word(rest)?;
    let (times, stage) = word(rest)?;
    let sample = match sample {
        "ether" => Sample::Ether,
        "vlan" => Sample::Vlan,
        "arp" => Sample::Arp,
        "ip" => Sample::Ip,
        "tcp" => Sample::Tcp,
        "icmp" => Sample::Icmp,
        "ip6" => Sample::Ip6,
        _ => return None,
    };
    let position = match position {
        "push" => Position::Push,
        "pull" => Position::Pull,
        "source" => Position::Source,
        "sink" => Position::Sink,
        _ => return None,
    };
    Some(Row { class, stage: stage.trim(), sample, position, times: times.parse().ok()? })
}
