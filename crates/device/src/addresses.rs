//! The addresses of the kernel's interfaces, of those in the program's network namespace.

use crate::{links, sys};
use std::fs;
use std::net::Ipv4Addr;
use wire::MacAddr;

/// The first address of an interface and its mask, if there is such an interface and it has one.
pub fn ipv4(interface: &str) -> Option<(Ipv4Addr, Ipv4Addr)> {
    // Asking for an interface that is not there would have the kernel look for a module of that name.
    links::named(interface)?;
    Some((ask(interface, libc::SIOCGIFADDR)?, ask(interface, libc::SIOCGIFNETMASK)?))
}

/// The Ethernet address of an interface.
pub fn ether(interface: &str) -> Option<MacAddr> {
    links::named(interface)?.mac
}

/// The next hop of the default route through an interface.
pub fn gateway(interface: &str) -> Option<Ipv4Addr> {
    gateway_in(&fs::read_to_string("/proc/net/route").ok()?, interface)
}

/// What the kernel says to a request that gives an IPv4 address.
fn ask(interface: &str, code: libc::c_ulong) -> Option<Ipv4Addr> {
    let fd = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).ok()?;
    let mut request = sys::interface_request(interface).ok()?;
    // SAFETY: both codes that are asked take a name and give an address.
    unsafe { sys::request(&fd, code, &mut request) }.ok()?;
    // SAFETY: the call has just stored an address, and any bytes are one.
    let address = unsafe { request.ifr_ifru.ifru_addr };
    // The port comes first.
    let [a, b, c, d] = [2, 3, 4, 5].map(|i| address.sa_data[i] as u8);
    (i32::from(address.sa_family) == libc::AF_INET).then(|| Ipv4Addr::new(a, b, c, d))
}

/// The gateway in the kernel's list of routes: interface, destination, gateway, ..., mask at the eighth place, all in
/// hexadecimal and in the machine's byte order.
fn gateway_in(routes: &str, interface: &str) -> Option<Ipv4Addr> {
    routes.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| u32::from_str_radix(words.get(at)?, 16).ok();
        let is_default = words.first() == Some(&interface) && number(1)? == 0 && number(7)? == 0;
        let gateway = Ipv4Addr::from(number(2)?.to_ne_bytes());
        (is_default && !gateway.is_unspecified()).then_some(gateway)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_of_a_default_route_is_found() {
        let hex = |address: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(address));
        let routes = format!(
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n\
             eth0\t{net}\t00000000\t0001\t0\t0\t0\t{mask}\neth0\t00000000\t{gate}\t0003\t0\t0\t0\t00000000\n\
             eth1\t00000000\t00000000\t0001\t0\t0\t0\t00000000\nbroken\n",
            net = hex([10, 0, 0, 0]),
            mask = hex([255, 255, 255, 0]),
            gate = hex([10, 0, 0, 254]),
        );
        let gateway = |interface| gateway_in(&routes, interface);
        assert_eq!(gateway("eth0"), Some(Ipv4Addr::new(10, 0, 0, 254)));
        assert_eq!([gateway("eth1"), gateway("eth2"), gateway("broken"), gateway_in("", "eth0")], [None; 4]);
    }

    /// The loopback interface has its usual address, where it has one at all.
    #[test]
    fn bad_names_have_no_address_and_loopback_its_usual_one() {
        for name in ["", ".", "..", "no such interface", "../net/lo", "a name that is much too long for one"]
        {
            assert_eq!(ipv4(name), None, "{name}");
        }
        if let Some((address, mask)) = ipv4("lo") {
            assert!(address.is_loopback(), "{address}");
            assert!(mask.to_bits().count_zeros() == mask.to_bits().trailing_zeros(), "{mask}");
        }
    }
}
