//! Instructions a packet, counted by valgrind's callgrind.

use std::process::Command;

/// Packets of the two runs whose difference is counted, so that starting and stopping cancel out.
const FEW: u64 = 5_000;
const MANY: u64 = 25_000;

/// Instructions a packet of the forwarding case with this name: this program's own, under callgrind.
///
/// # Errors
/// A sentence: valgrind is not there, or its output is not as expected.
pub(crate) fn per_packet(case: &str) -> Result<f64, String> {
    let (few, many) = (count(case, FEW)?, count(case, MANY)?);
    Ok(many.saturating_sub(few) as f64 / (MANY - FEW) as f64)
}

fn count(case: &str, packets: u64) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|e| format!("this program's own path: {e}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["forward", "--runs", "1", "--packets", &packets.to_string(), "--only", case])
        .output()
        .map_err(|e| format!("cannot run valgrind, which counts instructions (is it installed?): {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    collected(&text).ok_or_else(|| format!("callgrind said nothing about instructions:\n{text}"))
}

/// The number in callgrind's last line, `==PID== Collected : NUMBER`.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.split(':').next_back()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_line_is_found() {
        let text = "==1== Callgrind, a profiler\n==1==\n==1== Events    : Ir\n==1== Collected : 123456\n";
        assert_eq!(collected(text), Some(123_456));
        assert_eq!(collected("==1== nothing"), None);
    }
}
