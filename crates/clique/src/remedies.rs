//! What to use instead of element classes that Click or FastClick have and this program has not.

/// Advice, for each class by its name. A class that is there is never looked up.
#[rustfmt::skip]
const CLASSES: &[(&str, &str)] = &[
    ("ChangeUser", "start the program as that user, with the capabilities CAP_NET_RAW and CAP_NET_ADMIN"),
    ("DPDKInfo", "packet memory needs no description here; remove the element"),
    ("ExactCPUSwitch", THREADS),
    ("FromDPDKDevice", DEVICE),
    ("FromDevice", DEVICE),
    ("FromDPDKRing", DEVICE),
    ("FromHost", DEVICE),
    ("FromNetmapDevice", DEVICE),
    ("FromUserDevice", KERNEL),
    ("KernelTap", DEVICE),
    ("KernelTun", DEVICE),
    ("LinuxIPLookup", "use LinearIPLookup or RadixIPLookup"),
    ("MSQueue", "use Queue, which serves several workers by itself"),
    ("NetmapInfo", DEVICE),
    ("PollDevice", DEVICE),
    ("QuitWatcher", "use a Script that reads handlers and writes 'stop'"),
    ("RawSocket", SOCKET),
    ("SetCycleCount", MEASURE),
    ("CycleCountAccum", MEASURE),
    ("RoundTripCycleCount", MEASURE),
    ("PerfCountAccum", MEASURE),
    ("PerfCountInfo", MEASURE),
    ("SetPerfCount", MEASURE),
    ("Socket", SOCKET),
    ("SpinlockInfo", LOCKS),
    ("SortedTaskSched", THREADS),
    ("ToDPDKDevice", DEVICE),
    ("ToDevice", DEVICE),
    ("ToDPDKRing", DEVICE),
    ("ToHost", DEVICE),
    ("ToHostSniffers", DEVICE),
    ("ToNetmapDevice", DEVICE),
    ("ToUserDevice", KERNEL),
    ("UserClock", MEASURE),
];

/// Advice for families of classes, by how their names begin.
const FAMILIES: &[(&str, &str)] = &[
    ("DPDK", DEVICE),
    ("DSR", WIRELESS),
    ("Flow", "flows are classified by IPClassifier and IPRewriter; there is no flow manager"),
    ("Grid", WIRELESS),
    ("HTTP", "there is no proxy for HTTP"),
    ("IPsec", IPSEC),
    ("Netmap", DEVICE),
    ("Radiotap", WIRELESS),
    ("SR2", WIRELESS),
    ("SR", WIRELESS),
    (
        "TCPIn",
        "TCP streams cannot be changed in passing; IPRewriter and TCPRewriter change addresses and ports",
    ),
    (
        "TCPOut",
        "TCP streams cannot be changed in passing; IPRewriter and TCPRewriter change addresses and ports",
    ),
    ("Wep", WIRELESS),
    ("Wifi", WIRELESS),
];

const DEVICE: &str = "packets come from captures (FromDump) and from interfaces in memory (FromMemory); there is no driver for real interfaces yet";
const IPSEC: &str = "there is no IPsec; let the kernel encrypt ('ip xfrm')";
const KERNEL: &str = "this needs Click's kernel module; this program runs in user space only";
const LOCKS: &str = "elements need no locks here: each belongs to one worker; remove the element";
const MEASURE: &str =
    "cycles of single packets are not counted; measure the program with 'clique run --time' or perf(1)";
const SOCKET: &str = "packets cannot come from sockets; use FromDump and ToDump";
const THREADS: &str =
    "use StaticThreadSched to place elements on workers; 'clique check' shows who runs what";
const WIRELESS: &str = "there are no elements for wireless networks";

/// The advice for a class, if it is one of Click's or FastClick's.
pub(crate) fn find(name: &str) -> Option<&'static str> {
    let exact = CLASSES.iter().find(|(class, _)| *class == name);
    let family = || FAMILIES.iter().find(|(start, _)| is_of_family(name, start));
    exact.or_else(family).map(|(_, advice)| *advice)
}

/// Whether a name begins so, and goes on with the next word of the name or ends there.
fn is_of_family(name: &str, start: &str) -> bool {
    name.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families() {
        assert_eq!(find("FromDPDKDevice"), Some(DEVICE));
        assert_eq!(find("WifiEncap"), Some(WIRELESS));
        assert_eq!(find("IPsecESPEncap"), Some(IPSEC));
        for name in ["Flower", "Gridlock", "IPFilter", "Wepa", "Nonsense", ""] {
            assert_eq!(find(name), None, "{name}");
        }
        let mut names: Vec<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CLASSES.len(), "a class has two pieces of advice");
    }
}
