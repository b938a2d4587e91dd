//! What the kernel tells of a machine: files under `/proc` and `/sys`, and what `ip` and `ethtool` print.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A machine: this one, or in tests files of another one.
pub(super) struct Machine {
    root: PathBuf,
}

impl Machine {
    pub(super) fn this() -> Machine {
        Machine { root: "/".into() }
    }

    #[cfg(test)]
    pub(super) fn at(root: &Path) -> Machine {
        Machine { root: root.to_owned() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The text of a file, without blanks around it; `None` if it cannot be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        Some(std::fs::read_to_string(self.path(path)).ok()?.trim().to_owned())
    }

    /// The number in a file.
    pub(super) fn number(&self, path: &str) -> Option<i64> {
        self.text(path)?.parse().ok()
    }

    /// The last part of what a link leads to.
    pub(super) fn link(&self, path: &str) -> Option<String> {
        let target = std::fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_str()?.to_owned())
    }

    /// The names in a directory, sorted.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }

    /// What a program prints; `None` if it is not there or fails. In tests the file `run/PROGRAM ARGUMENT...`.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> Option<String> {
        if self.root != Path::new("/") {
            let words = [&[program], arguments].concat().join(" ");
            return self.text(&format!("run/{words}"));
        }
        let output = Command::new(program).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The names of interfaces but for loopback.
    pub(super) fn interfaces(&self) -> Vec<String> {
        let mut names = self.names("/sys/class/net");
        names.retain(|name| name != "lo" && self.link(&format!("/sys/class/net/{name}/subsystem")).is_some());
        names
    }

    /// What `ip` tells of an interface.
    pub(super) fn link_details(&self, interface: &str) -> Value {
        let text = self.run("ip", &["-details", "-json", "link", "show", "dev", interface]);
        let list: Value = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        list[0].clone()
    }

    /// What processes have packet sockets on an interface, or on all: number and name. Without the rights for that their sockets are
    /// counted only.
    pub(super) fn packet_sockets(&self, index: i64) -> (usize, Vec<(u32, String)>) {
        let table = self.text("/proc/net/packet").unwrap_or_default();
        let inodes: Vec<String> = table
            .lines()
            .skip(1)
            .filter_map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let of: i64 = words.get(4)?.parse().ok()?;
                (of == index || of == 0).then(|| format!("socket:[{}]", words.last().unwrap_or(&"")))
            })
            .collect();
        if inodes.is_empty() {
            return (0, Vec::new());
        }
        let mut owners = Vec::new();
        for process in self.names("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok()) {
            let files = self.names(&format!("/proc/{process}/fd"));
            let mut targets =
                files.iter().filter_map(|file| self.link(&format!("/proc/{process}/fd/{file}")));
            if targets.any(|target| inodes.contains(&target)) {
                owners.push((process, self.text(&format!("/proc/{process}/comm")).unwrap_or_default()));
            }
        }
        (inodes.len(), owners)
    }

    /// The interrupts of an interface's queues: number and name.
    pub(super) fn interrupts(&self, interface: &str) -> Vec<(u32, String)> {
        let device = self.link(&format!("/sys/class/net/{interface}/device"));
        let of_queue = |name: &str| {
            let of = |owner: &str| {
                let rest = name.strip_prefix(owner)?;
                (rest.is_empty() || rest.starts_with(['-', '@', '.', ':'])).then_some(rest)
            };
            match device.as_deref().and_then(of) {
                Some(rest) => rest.starts_with("-input") || rest.starts_with("-output") || rest.is_empty(),
                None => of(interface).is_some(),
            }
        };
        let text = self.text("/proc/interrupts").unwrap_or_default();
        let line = |line: &str| {
            let (number, rest) = line.split_once(':')?;
            let name = rest.split_whitespace().last()?.to_owned();
            Some((number.trim().parse().ok()?, name))
        };
        text.lines().filter_map(line).filter(|(_, name)| of_queue(name)).collect()
    }

    /// The settings that `ethtool -k` lists: `NAME: on`.
    pub(super) fn features(&self, interface: &str) -> Option<Vec<(String, bool)>> {
        let text = self.run("ethtool", &["-k", interface])?;
        let line = |line: &str| {
            let (name, value) = line.trim().split_once(": ")?;
            Some((name.to_owned(), value.starts_with("on")))
        };
        Some(text.lines().filter_map(line).collect())
    }

    /// The receive ring's places and those that it could have, from `ethtool -g`.
    pub(super) fn receive_ring(&self, interface: &str) -> Option<(u32, u32)> {
        let text = self.run("ethtool", &["-g", interface])?;
        let mut numbers =
            text.lines().filter_map(|line| line.trim().strip_prefix("RX:")?.trim().parse::<u32>().ok());
        let most = numbers.next()?;
        Some((numbers.next()?, most))
    }
}
