//! What a figure was measured on: goes with every figure.

use serde::{Deserialize, Serialize};
use std::process::Command;

/// Machine and commit.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Machine {
    processor: String,
    cores: usize,
    #[serde(default)]
    microcode: String,
    /// What the kernel was started with, as far as figures depend on it.
    #[serde(default)]
    kernel_arguments: String,
    kernel: String,
    rustc: String,
    commit: String,
}

fn first_line(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

/// Whether an argument of the kernel changes what programs take: mitigations, isolated processors, power, pages.
fn matters(argument: &str) -> bool {
    const NAMES: [&str; 15] = [
        "mitigations",
        "isolcpus",
        "nohz",
        "nohz_full",
        "rcu_nocbs",
        "irqaffinity",
        "maxcpus",
        "nosmt",
        "idle",
        "cpufreq.default_governor",
        "intel_pstate",
        "amd_pstate",
        "transparent_hugepage",
        "hugepages",
        "default_hugepagesz",
    ];
    NAMES.contains(&argument.split('=').next().unwrap_or_default())
}

impl Machine {
    /// This one.
    pub(crate) fn here() -> Machine {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once(": ")).map_or("unknown", |(_, value)| value).to_owned()
        };
        let command_line = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
        let kernel_arguments: Vec<&str> =
            command_line.split_whitespace().filter(|word| matters(word)).collect();
        Machine {
            processor: format!(
                "{}, family {} model {}, {} MHz",
                field("model name"),
                field("cpu family"),
                field("model\t"),
                field("cpu MHz")
            ),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            microcode: field("microcode"),
            kernel_arguments: kernel_arguments.join(" "),
            kernel: first_line("uname", &["-sr"]),
            rustc: first_line("rustc", &["--version"]),
            commit: env!("CLIQUE_COMMIT").to_owned(),
        }
    }

    /// The commit that this program is made of: `unknown` if it was built outside a repository, `-dirty` behind it if files had changed.
    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    /// The microcode, and the kernel's arguments that change what programs take. Reports of before have neither.
    pub(crate) fn settings(&self) -> String {
        let or = |text: &str, none: &str| if text.is_empty() { none } else { text }.to_owned();
        format!(
            "microcode {}, kernel arguments that matter: {}",
            or(&self.microcode, "unknown"),
            or(&self.kernel_arguments, "none")
        )
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        format!(
            "{} ({} cores), {}, {}, commit {}",
            self.processor, self.cores, self.kernel, self.rustc, self.commit
        )
    }
}
