//! `clique doctor`: whether this machine and its interfaces are ready for a router, and what to do about it.
//!
//! It changes nothing and opens no interface.

mod checks;
mod machine;

use crate::status::Status;
use crate::{console, job, report};
use checks::{Finding, Weight, plural};
use machine::Machine;
use serde_json::json;

/// Arguments of `clique doctor`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Look at these interfaces [default: all that are up].
    #[arg(value_name = "INTERFACE")]
    interfaces: Vec<String>,

    /// Look whether N workers can be served.
    #[arg(short = 'j', long, value_name = "N", default_value = "1",
          value_parser = clap::value_parser!(u16).range(1..=i64::from(job::WORKERS_MAX)))]
    threads: u16,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs `clique doctor`.
pub(crate) fn run(args: &Args) -> Status {
    let machine = Machine::this();
    let findings = examine(&machine, &args.interfaces, args.threads.into());
    let worst = findings.iter().map(|finding| finding.weight).max().unwrap_or(Weight::Fine);
    let status = if worst == Weight::Problem { Status::Configuration } else { Status::Fine };
    let printed = if args.json {
        report::print_json(&json!({ "findings": findings, "ready": worst != Weight::Problem }))
    } else {
        console::write_result(None, &text(&findings))
    };
    status.max(printed)
}

/// Looks at the machine, and at these interfaces or all that are up.
fn examine(machine: &Machine, interfaces: &[String], workers: usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    checks::machine(machine, workers, &mut findings);
    let is_up = |name: &String| {
        machine.text(&format!("/sys/class/net/{name}/operstate")).is_some_and(|state| state != "down")
    };
    let all: Vec<String> = if interfaces.is_empty() {
        machine.interfaces().into_iter().filter(is_up).collect()
    } else {
        interfaces.to_vec()
    };
    if all.is_empty() {
        checks::no_interface(machine, &mut findings);
    }
    for name in &all {
        checks::interface(machine, name, workers, &mut findings);
    }
    findings
}

/// For people: what was found, by subject, with the command that mends it below.
fn text(findings: &[Finding]) -> String {
    let (mut text, mut subject) = (String::new(), "");
    for finding in findings {
        if finding.subject != subject {
            subject = &finding.subject;
            text.extend([subject, "\n"]);
        }
        let mark = match finding.weight {
            Weight::Fine => "ok",
            Weight::Advice => "--",
            Weight::Problem => "!!",
        };
        text.push_str(&format!("  {mark}  {}\n", finding.found));
        text.extend(finding.remedy.iter().map(|remedy| format!("        {remedy}\n")));
    }
    let count = |weight| findings.iter().filter(|finding| finding.weight == weight).count();
    let (problems, advice) = (count(Weight::Problem), count(Weight::Advice));
    let verdict = match (problems, advice) {
        (0, 0) => "ready".to_owned(),
        (0, _) => format!("ready; {} of advice (--)", plural(advice, "piece")),
        _ => format!("{} (!!), {} of advice (--)", plural(problems, "problem"), plural(advice, "piece")),
    };
    text + &format!("{verdict}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    /// Files of a machine with one interface, `eth0`.
    fn machine(root: &Path, files: &[(&str, &str)]) -> Machine {
        let always = [
            ("sys/class/net/eth0/ifindex", "2"),
            ("sys/class/net/eth0/flags", "0x1003"),
            ("sys/class/net/eth0/carrier", "1"),
            ("sys/class/net/eth0/operstate", "up"),
            ("sys/class/net/eth0/mtu", "1500"),
            ("sys/class/net/eth0/queues/rx-0/x", ""),
            ("sys/devices/system/cpu/cpu0/x", ""),
            ("sys/devices/system/cpu/cpu1/x", ""),
            ("proc/self/status", "CapEff:\t000001ffffffffff"),
            ("run/ethtool -k eth0", "generic-receive-offload: off"),
            ("run/ip -details -json link show dev eth0", "[{}]"),
        ];
        for (file, text) in always.iter().chain(files) {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        for (link, target) in [("subsystem", "../net"), ("device", "../../0000:01:00.0")] {
            let _ = symlink(target, root.join("sys/class/net/eth0").join(link));
        }
        Machine::at(root)
    }

    /// What is found of a machine with these files, as far as it is not fine: text and command.
    fn troubles(files: &[(&str, &str)], workers: usize) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let found = examine(&machine(root.path(), files), &[], workers);
        let bad = found.into_iter().filter(|finding| finding.weight != Weight::Fine);
        bad.map(|finding| {
            format!("{}: {} | {}", finding.subject, finding.found, finding.remedy.unwrap_or_default())
        })
        .collect()
    }

    #[test]
    fn a_good_machine_is_ready() {
        assert_eq!(troubles(&[], 1), [""; 0]);
        // Packet sockets cut what is merged.
        assert_eq!(troubles(&[("run/ethtool -k eth0", "generic-receive-offload: on")], 1), [""; 0]);
    }

    /// Each trouble is found, alone, with the command that mends it.
    #[test]
    fn each_trouble_comes_with_its_command() {
        for (file, text, command) in [
            ("sys/class/net/eth0/flags", "0x1002", "ip link set eth0 up"),
            ("sys/class/net/eth0/carrier", "0", "ip -details link"),
            ("proc/self/status", "CapEff:\t0000000000001000", "sudo clique"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]", "echo madvise"),
            ("proc/sys/net/core/bpf_jit_enable", "0", "sysctl -w net.core.bpf_jit_enable=1"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "cpupower"),
            ("proc/sys/net/ipv4/conf/eth0/forwarding", "1", "sysctl -w net.ipv4.conf.eth0.forwarding=0"),
            (
                "run/ip -details -json link show dev eth0",
                r#"[{"master":"br0"}]"#,
                "ip link set eth0 nomaster",
            ),
            (
                "run/ip -details -json link show dev eth0",
                r#"[{"xdp":{"prog":{"id":7}}}]"#,
                "ip link set dev eth0 xdp off",
            ),
            ("run/ethtool -k eth0", "large-receive-offload: on", "ethtool -K eth0 lro off"),
            (
                "run/ethtool -g eth0",
                "Pre-set maximums:\nRX:\t\t4096\nTX: 1\nCurrent hardware settings:\nRX:\t\t256",
                "ethtool -G eth0 rx 2048",
            ),
        ] {
            let found = troubles(&[(file, text)], 1);
            assert_eq!(found.len(), 1, "{file}: {found:?}");
            assert!(found[0].contains(command), "{file}: {found:?}");
        }
    }

    /// Queues, interrupts and NUMA nodes are compared with the workers.
    #[test]
    fn workers_are_served() {
        assert!(troubles(&[], 2)[0].contains("ethtool -L eth0 combined 2"));
        let files = [
            ("sys/class/net/eth0/queues/rx-1/x", ""),
            (
                "proc/interrupts",
                "  30:  1 2  PCI-MSI eth0-TxRx-0\n  31:  1 2  PCI-MSI eth0-TxRx-1\n  32: 1 2 PCI-MSI eth01-TxRx-0\n",
            ),
            ("proc/irq/30/effective_affinity_list", "0"),
            ("proc/irq/31/effective_affinity_list", "0"),
        ];
        let found = troubles(&files, 2);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("all 2 interrupts go to processor 0"), "{found:?}");
        assert!(found[0].contains("echo 1 > /proc/irq/31/smp_affinity_list"), "{found:?}");
        assert!(troubles(&[], 3)[0].contains("3 workers share 2 processors"));
    }

    /// A machine on which no interface is up is not ready; nor is one without any.
    #[test]
    fn an_interface_is_needed() {
        let down = troubles(&[("sys/class/net/eth0/operstate", "down")], 1);
        assert_eq!(down, ["machine: no interface but loopback is up | ip link set eth0 up"]);
        let root = tempfile::tempdir().unwrap();
        let none = examine(&Machine::at(root.path()), &[], 1);
        assert!(none.iter().any(|finding| finding.weight == Weight::Problem), "{}", text(&none));
        assert!(!text(&none).contains("ready"), "{}", text(&none));
    }

    #[test]
    fn another_router_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let table = "sk RefCnt Type Proto Iface R Rmem User Inode\nx 3 3 0003 2 1 0 0 4711\nx 3 3 0003 9 1 0 0 4712\n";
        let machine = machine(
            root.path(),
            &[("proc/net/packet", table), ("proc/77/comm", "clique"), ("proc/77/fd/x", "")],
        );
        symlink("socket:[4711]", root.path().join("proc/77/fd/3")).unwrap();
        let weight = |id: &str| {
            let found = examine(&machine, &["eth0".to_owned()], 1);
            found.iter().find(|finding| finding.found.contains(id)).map(|finding| finding.weight)
        };
        assert_eq!(weight("process 77 (clique)"), Some(Weight::Fine));
        // Two of them forward everything twice.
        std::fs::create_dir_all(root.path().join("proc/78/fd")).unwrap();
        std::fs::write(root.path().join("proc/78/comm"), "clique").unwrap();
        symlink("socket:[4711]", root.path().join("proc/78/fd/3")).unwrap();
        assert_eq!(weight("process 77 (clique)"), Some(Weight::Problem));
        assert_eq!(weight("process 78 (clique)"), Some(Weight::Problem));
        let missing = examine(&machine, &["eth7".to_owned()], 1);
        assert!(text(&missing).contains("eth7\n  !!  there is no such interface\n"));
    }
}
