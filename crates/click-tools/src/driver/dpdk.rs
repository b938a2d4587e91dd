//! What command lines of FastClick say to DPDK: `--dpdk ARGUMENT... --`, in older ones `ARGUMENT... --` in front of all else.

use std::ffi::OsString;

/// What is said to DPDK, as far as it means something here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dpdk {
    /// Cores that FastClick would run a thread on each.
    pub(super) cores: Option<usize>,
    /// The devices, by port number: PCI addresses, names of interfaces.
    pub(super) devices: Vec<String>,
}

/// Parts a command line into the driver's own arguments and what is said to DPDK, if anything is.
pub(super) fn part(arguments: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Option<Dpdk>) {
    let mut own: Vec<OsString> = arguments.into_iter().collect();
    let Some(start) = start(&own) else { return (own, None) };
    let end = own[start..].iter().position(|argument| argument == "--");
    let end = end.map_or(own.len(), |end| start + end + 1);
    let words: Vec<String> =
        own.drain(start..end).map(|argument| argument.to_string_lossy().into_owned()).collect();
    (own, Some(Dpdk { cores: cores(&words), devices: devices(&words) }))
}

/// Where what is said to DPDK begins. Without `--dpdk` it is what stands in front of `--`, if an option is there that Click does not have.
fn start(arguments: &[OsString]) -> Option<usize> {
    let marked = arguments.iter().position(|argument| argument == "--dpdk");
    let unmarked = || {
        let end = arguments.iter().position(|argument| argument == "--")?;
        let mut words = arguments[..end].iter().map(|argument| argument.to_string_lossy());
        words.any(|word| ["-c", "-l", "-n"].iter().any(|option| word.starts_with(option))).then_some(0)
    };
    marked.or_else(unmarked)
}

/// How many cores `-l LIST` or `-c MASK` name.
fn cores(words: &[String]) -> Option<usize> {
    let value = |option: &str| {
        let at = words.iter().position(|word| word.starts_with(option) && !word.starts_with("--"))?;
        let behind = &words[at][option.len()..];
        if behind.is_empty() { words.get(at + 1).map(String::as_str) } else { Some(behind) }
    };
    let listed = value("-l").map(|list| list.split(',').map(range).sum());
    let mask = || {
        let mask = value("-c")?;
        let digits = mask.strip_prefix("0x").unwrap_or(mask);
        u128::from_str_radix(digits, 16).ok().map(|mask| mask.count_ones() as usize)
    };
    listed.or_else(mask).filter(|&cores| cores > 0)
}

/// What stands behind an option, in the same word or the next one.
fn values<'w>(words: &'w [String], options: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    words.iter().enumerate().filter_map(move |(at, word)| {
        let behind = options.iter().find_map(|option| word.strip_prefix(option))?;
        let long = word.starts_with("--");
        match behind.strip_prefix('=') {
            Some(value) if long => Some(value),
            _ if behind.is_empty() => words.get(at + 1).map(String::as_str),
            _ => Some(behind).filter(|_| !long),
        }
    })
}

/// The devices that DPDK would have: those on the PCI bus by their addresses, then the ones that stand for interfaces of the kernel.
fn devices(words: &[String]) -> Vec<String> {
    let address = |value: &str| value.split(',').next().unwrap_or(value).to_owned();
    let mut devices: Vec<String> =
        values(words, &["-a", "-w", "--allow", "--pci-whitelist"]).map(address).collect();
    devices.sort();
    let interface =
        |value: &str| value.split(',').find_map(|part| part.strip_prefix("iface=")).map(str::to_owned);
    devices.extend(values(words, &["--vdev"]).filter_map(interface));
    devices
}

/// How many cores there are in `N` or `N-M`.
fn range(text: &str) -> usize {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) if first <= last => (last - first).saturating_add(1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(line: &str) -> (String, Option<Option<usize>>) {
        let (own, dpdk) = part(line.split_whitespace().map(OsString::from));
        let own: Vec<_> = own.iter().map(|argument| argument.to_string_lossy()).collect();
        (own.join(" "), dpdk.map(|dpdk| dpdk.cores))
    }

    #[test]
    fn devices_by_number() {
        let line = "--dpdk -l 0 --vdev=net_af_packet0,iface=veth1 -a 51:00.1,rx=2 -w 51:00.0 --vdev net_af_xdp0,iface=eth0,start_queue=0 --vdev net_null0 -- x";
        let (_, dpdk) = part(line.split_whitespace().map(OsString::from));
        assert_eq!(dpdk.map(|dpdk| dpdk.devices.join(" ")), Some("51:00.0 51:00.1 veth1 eth0".to_owned()));
    }

    #[test]
    fn dpdk_arguments_are_cut_out_and_their_cores_counted() {
        assert_eq!(parted("-j 2 x.click --"), ("-j 2 x.click --".to_owned(), None));
        assert_eq!(parted("--dpdk -l 0-3,8 -n 4 -- x.click N=1"), ("x.click N=1".to_owned(), Some(Some(5))));
        assert_eq!(
            parted("-q --dpdk -c 0xf0f -w 0000:51:00.0 -- x --"),
            ("-q x --".to_owned(), Some(Some(8)))
        );
        assert_eq!(parted("--dpdk -l2 --lcores=1 -- x"), ("x".to_owned(), Some(Some(1))));
        assert_eq!(parted("--dpdk -l 3-1 -- x"), ("x".to_owned(), Some(None)));
        assert_eq!(parted("x --dpdk"), ("x".to_owned(), Some(None)));
        assert_eq!(parted("-c 0x7 -n 4 -- x.click N=1"), ("x.click N=1".to_owned(), Some(Some(3))));
        assert_eq!(parted("-v -n4 -- x"), ("x".to_owned(), Some(None)));
        assert_eq!(parted("-q -- x -c"), ("-q -- x -c".to_owned(), None));
        assert_eq!(parted("-c 7 x"), ("-c 7 x".to_owned(), None));
    }
}
