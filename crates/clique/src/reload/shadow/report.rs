//! What a shadow has shown, for people and for programs.

use super::comparison::{Both, Compared, Example, Traffic};
use super::recording::Recording;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What was compared, and what was different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::reload) struct Report {
    /// Whether anything is different.
    pub(in crate::reload) differs: bool,
    /// Packets that both copies got.
    pub(in crate::reload) packets: u64,
    /// Packets that came and that they did not get: those that taps lost, and those that were too long or too many for the memory.
    pub(in crate::reload) lost: u64,
    pub(in crate::reload) left_out: u64,
    /// Interfaces from which only one of the two receives.
    pub(in crate::reload) only_running_receives: Vec<String>,
    pub(in crate::reload) only_new_receives: Vec<String>,
    /// What was sent, by interface.
    pub(in crate::reload) interfaces: BTreeMap<String, Traffic>,
    /// What was dropped, by reason.
    pub(in crate::reload) drops: BTreeMap<String, Both>,
    pub(in crate::reload) examples: Vec<Example>,
}

impl Report {
    /// Of packets that were recorded, the interfaces that the two receive from, and what was found.
    pub(super) fn new(recording: &Recording, ports: [&Vec<String>; 2], compared: Compared) -> Report {
        let [running, new] = ports;
        let without = |these: &[String], others: &[String]| {
            these.iter().filter(|port| !others.contains(port)).cloned().collect::<Vec<_>>()
        };
        let mut report = Report {
            differs: false,
            packets: recording.packets.len() as u64,
            lost: recording.lost,
            left_out: recording.left_out,
            only_running_receives: without(running, new),
            only_new_receives: without(new, running),
            interfaces: compared.interfaces,
            drops: compared.drops,
            examples: compared.examples,
        };
        report.differs = report.interfaces.values().any(|traffic| traffic.alone != Both::default())
            || report.drops.values().any(|both| both.running != both.new)
            || !report.only_running_receives.is_empty()
            || !report.only_new_receives.is_empty();
        report
    }

    /// Whether packets came, and both made the same of them.
    pub(in crate::reload) fn is_good(&self) -> bool {
        !self.differs && self.packets > 0
    }

    /// For people, in lines.
    pub(in crate::reload) fn text(&self) -> String {
        let mut text = format!("shadow: {} packets to both", self.packets);
        for (count, what) in [(self.lost, "lost by the taps"), (self.left_out, "left out, for want of room")]
        {
            if count > 0 {
                let _ = write!(text, ", {count} {what}");
            }
        }
        text.push('\n');
        for (ports, which) in [(&self.only_running_receives, "running"), (&self.only_new_receives, "new")] {
            ports.iter().for_each(|port| {
                let _ = writeln!(text, "  only the {which} configuration receives from {port}");
            });
        }
        for (port, Traffic { sent, alone }) in &self.interfaces {
            let _ = write!(text, "  sent by {port}: {}", pair(*sent));
            if *alone != Both::default() {
                let _ = write!(text, "; different: {}", pair(*alone));
            }
            text.push('\n');
        }
        for (reason, both) in &self.drops {
            let mark = if both.running == both.new { "" } else { "; different" };
            let _ = writeln!(text, "  dropped, {reason}: {}{mark}", pair(*both));
        }
        for Example { packet, interface, running, new } in &self.examples {
            let from = if interface.is_empty() { String::new() } else { format!(" from {interface}") };
            let _ = writeln!(text, "  {packet}{from}: running: {running}; new: {new}");
        }
        text += match (self.differs, self.packets) {
            (true, _) => "shadow: the configurations differ\n",
            (false, 0) => "shadow: no packets came, which shows nothing\n",
            (false, _) => "shadow: no difference\n",
        };
        text
    }
}

/// Two counts in words.
fn pair(Both { running, new }: Both) -> String {
    format!("{running} running, {new} new")
}
