//! Names of methods by which interfaces are opened.

use router::Config;

/// The method that serves for the one of this name: netmap and DPDK take interfaces from the kernel, which keeps them here.
pub(super) fn method(config: &mut Config<'_>, name: String) -> String {
    if !matches!(name.as_str(), "NETMAP" | "DPDK") {
        return name;
    }
    config.warn(format!("METHOD {name}: the interface stays the kernel's; using METHOD LINUX"));
    "LINUX".to_owned()
}
