//! What the system says of this process, in proc(5), under the names that other programs use for it as well.

use super::exposition::{Exposition, Kind};
use rustix::param::{clock_ticks_per_second, page_size};
use std::fs::{read_dir, read_to_string};

/// The fields of `/proc/self/stat` from the third one on. The second, the command's name in parentheses, may contain anything.
struct Stat(Vec<String>);

impl Stat {
    fn read() -> Option<Stat> {
        let text = read_to_string("/proc/self/stat").ok()?;
        let (_, fields) = text.rsplit_once(')')?;
        Some(Stat(fields.split_whitespace().map(str::to_owned).collect()))
    }

    /// The field with a number, counted as proc(5) does.
    fn field(&self, number: usize) -> Option<u64> {
        self.0.get(number - 3)?.parse().ok()
    }
}

/// When the machine was started, in seconds since the epoch.
fn boot_s() -> Option<f64> {
    let text = read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

/// How many files may be open.
fn files_max() -> Option<u64> {
    let text = read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find(|line| line.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

/// Writes what is known; what is not is left out.
pub(super) fn write(out: &mut Exposition) {
    let ticks = clock_ticks_per_second().max(1) as f64;
    if let Some(stat) = Stat::read() {
        if let (Some(user), Some(system)) = (stat.field(14), stat.field(15)) {
            let help = "Processor time of the program, and of the system on its behalf.";
            out.one("process_cpu_seconds_total", Kind::Counter, help, (user + system) as f64 / ticks);
        }
        let mut gauge = |name, help, value: Option<u64>| {
            if let Some(value) = value {
                out.one(name, Kind::Gauge, help, value);
            }
        };
        let resident = stat.field(24).map(|pages| pages * page_size() as u64);
        gauge("process_resident_memory_bytes", "Memory that the process has in use.", resident);
        gauge("process_virtual_memory_bytes", "Address space of the process.", stat.field(23));
        gauge("process_threads", "Threads of the process.", stat.field(20));
        let files = read_dir("/proc/self/fd").ok().map(|files| files.count() as u64);
        gauge("process_open_fds", "Files and sockets that are open.", files);
        gauge("process_max_fds", "Files and sockets that may be open.", files_max());
        if let (Some(boot), Some(start)) = (boot_s(), stat.field(22)) {
            let help = "When the process was started, since the epoch.";
            out.one("process_start_time_seconds", Kind::Gauge, help, boot + start as f64 / ticks);
        }
    }
}
