//! Answers IPv6 neighbour solicitations.
//!
//! ```click
//! IP6NDAdvertiser(IP6/MASK... ETH, ...)
//! ```
//!
//! Takes neighbour solicitations with their Ethernet headers. A solicitation for an address in one of the given
//! prefixes is turned into an advertisement of the Ethernet address of that prefix; the longest matching prefix
//! counts. Everything else is dropped, including what RFC 4861, section 7.1.1 has nodes discard: a wrong checksum, a
//! hop limit other than 255, an option of length zero, a target that is a group, and a sender without an address that
//! asks another group than the target's or names its Ethernet address.
//!
//! A solicitation without a source address comes from a host that wants to use the address itself; the advertisement
//! then goes to all hosts, to show that the address is taken (section 7.2.4; RFC 4862, section 5.4). The advertisement
//! says that it comes from a router. It overrides what its receivers know if the target is given as an address; what
//! is given as a prefix are other hosts' addresses, for which this element is a proxy (section 7.2.8). The answer has the
//! VLAN annotation of the solicitation.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! Each argument is a list of IPv6 addresses and prefixes and one Ethernet address, in any order.
//!
//! # Handlers
//! - `table` (read): the entries, one per line: prefix and Ethernet address, longest prefixes first.
//! - `lookup` (read, with an IPv6 address): the Ethernet address for it, or nothing.
//! - `add` (write): adds entries, in the form of an argument; each replaces an existing one for the same prefix.
//! - `remove` (write): removes the entry for a prefix.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Classifier(12/86dd 20/3aff 54/87) -> IP6NDAdvertiser(2001:db8::/32 00:00:C0:AE:67:EF)
//!   -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! ARPResponder

use elements_shared::ether_header::mark_frame;
use elements_shared::neighbour_discovery as nd;
use elements_shared::vlan::keep_vlan_only;
use packet::{Kind, Packet};
use router::{
    Class, Config, ConfigError, Cx, Element, FromArg, Handlers, NetOrHost, PerPacket, Scope, Simple, Verdict,
};
use std::net::Ipv6Addr;
use wire::{Ipv6Net, MacAddr};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IP6NDAdvertiser", create).doc(router::manual!("ip6_nd_advertiser.rs"));

/// The prefix of a single address.
const HOST_LEN: u8 = 128;

struct Ip6NdAdvertiser {
    /// Longest prefixes first.
    entries: Vec<(Ipv6Net, MacAddr)>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    for (i, word) in lang::conf::split_args(config.text()).iter().enumerate().filter(|(_, w)| !w.is_empty()) {
        match read(word, config.scope()) {
            Ok(more) => entries.extend(more),
            Err(error) => errors.push(format!("argument {i} {error}")),
        }
    }
    if !errors.is_empty() {
        return Err(ConfigError::from(errors));
    }
    let mut advertiser = Ip6NdAdvertiser { entries };
    advertiser.sort();
    Ok(Box::new(PerPacket(advertiser)))
}

/// The entries that an argument stands for.
fn read(text: &str, scope: Scope<'_>) -> Result<Vec<(Ipv6Net, MacAddr)>, String> {
    let (mut nets, mut mac) = (Vec::new(), None);
    for word in lang::conf::split_spaces(text) {
        if let Ok(NetOrHost(net)) = NetOrHost::<Ipv6Net>::from_arg(&word, scope) {
            nets.push(net);
        } else if let Ok(address) = MacAddr::from_arg(&word, scope) {
            if mac.replace(address).is_some() {
                return Err("has more than one Ethernet address".to_owned());
            }
        } else {
            return Err("should be `IP6/MASK ETHADDR'".to_owned());
        }
    }
    if nets.is_empty() {
        return Err("had no IP6 address and masks".to_owned());
    }
    let mac = mac.ok_or("had no Ethernet address")?;
    Ok(nets.into_iter().map(|net| (net, mac)).collect())
}

impl Ip6NdAdvertiser {
    fn sort(&mut self) {
        self.entries.sort_by_key(|(net, _)| std::cmp::Reverse(net.len()));
    }

    #[inline]
    fn lookup(&self, address: Ipv6Addr) -> Option<(Ipv6Net, MacAddr)> {
        self.entries.iter().find(|(net, _)| net.contains(address)).copied()
    }

    /// Turns a solicitation that can be answered into the answer.
    #[inline(never)] // most frames are none
    fn answer(&self, packet: &mut Packet) -> Option<()> {
        let (audience, target) = nd::question(packet.data())?;
        let (net, mac) = self.lookup(target)?;
        let fits = match packet.len().checked_sub(nd::FRAME_LEN) {
            Some(surplus) => packet.take(surplus),
            None => packet.put(nd::FRAME_LEN - packet.len()),
        };
        if !fits {
            return None;
        }
        nd::advertise(packet.data_mut(), audience, (mac, target), net.len() == HOST_LEN)?;
        keep_vlan_only(packet);
        packet.set_timestamp_ns(0);
        packet.set_kind(Kind::Host);
        mark_frame(packet);
        Some(())
    }
}

impl Simple for Ip6NdAdvertiser {
    #[inline(always)]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if nd::may_ask(packet.data()) && self.answer(packet).is_some() {
            Verdict::Pass
        } else {
            Verdict::Drop("no neighbour solicitation for an address of ours")
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type A = Ip6NdAdvertiser;
        h.read("table", |e: &mut A, _| {
            e.entries.iter().map(|(net, mac)| format!("{net} {mac}\n")).collect::<String>()
        });
        h.read_with("lookup", |e: &mut A, cx, text| {
            let address = router::value::<Ipv6Addr>(cx, text).map_err(|_| "expected IPv6 address")?;
            Ok(e.lookup(address).map(|(_, mac)| mac.to_string()).unwrap_or_default())
        });
        h.write("add", |e: &mut A, cx, text| {
            for (net, mac) in
                read(text.trim(), router::scope(cx)).map_err(|error| format!("entry {error}"))?
            {
                e.entries.retain(|(known, _)| *known != net);
                e.entries.push((net, mac));
            }
            e.sort();
            Ok(())
        });
        h.write("remove", |e: &mut A, cx, text| {
            let NetOrHost(net) = router::value::<NetOrHost<Ipv6Net>>(cx, text)?;
            let before = e.entries.len();
            e.entries.retain(|(known, _)| *known != net);
            if e.entries.len() < before { Ok(()) } else { Err(format!("{net} not found")) }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::errors;
    use crate::testing::{Sent, send};
    use packet::Anno;
    use proptest::prelude::*;
    use wire::{icmpv6, ipv6};

    const CONFIG: &str =
        "Inject -> IP6NDAdvertiser(2001:db8::/32 9:9:9:9:9:9, 2001:db8::7 7:7:7:7:7:7) -> Collect(0)";

    fn solicitation(target: &str) -> Vec<u8> {
        from("fe80::1", target, &[1, 1, 2, 2, 2, 2, 2, 2])
    }

    fn from(src: &str, target: &str, options: &[u8]) -> Vec<u8> {
        from_to(src, "ff02::1:ff00:7", target, options)
    }

    fn from_to(src: &str, dst: &str, target: &str, options: &[u8]) -> Vec<u8> {
        let (src, dst): (Ipv6Addr, Ipv6Addr) = (src.parse().unwrap(), dst.parse().unwrap());
        let target: Ipv6Addr = target.parse().unwrap();
        let mut message = [&[135, 0, 0, 0, 0, 0, 0, 0][..], &target.octets(), options].concat();
        icmpv6::fill_checksum(src, dst, &mut message).unwrap();
        let fixed = [0x60, 0, 0, 0, 0, message.len() as u8, 58, 255];
        [&[0x33; 6][..], &[2; 6], &[0x86, 0xdd], &fixed, &src.octets(), &dst.octets(), &message].concat()
    }

    #[test]
    fn each_target_of_the_table_is_answered() {
        let padded = [solicitation("2001:db8::7"), vec![0; 4]].concat();
        let flow = send(CONFIG, [padded, solicitation("2001:db8::8"), solicitation("2001:db9::8")]);
        let answers = flow.data(0);
        assert_eq!(answers.len(), 2);
        // An address of this router overrides; those of a prefix are others', for which it is a proxy.
        let expected = [(&answers[0], "2001:db8::7", 7, 0xe0), (&answers[1], "2001:db8::8", 9, 0xc0)];
        for (answer, target, mac, flags) in expected {
            let target: Ipv6Addr = target.parse().unwrap();
            assert_eq!(answer.len(), 86);
            assert_eq!(answer[..14], [&[2; 6][..], &[mac; 6], &[0x86, 0xdd]].concat());
            let ip = ipv6::Header::new_checked(&answer[14..]).unwrap();
            assert_eq!((ip.src(), ip.dst(), ip.hop_limit()), (target, "fe80::1".parse().unwrap(), 255));
            assert_eq!(icmpv6::verify_checksum(ip.src(), ip.dst(), &answer[54..]), Ok(()));
            assert_eq!([answer[54], answer[58], answer[78], answer[79]], [136, flags, 2, 1]);
            assert_eq!((&answer[62..78], &answer[80..]), (&target.octets()[..], &[mac; 6][..]));
        }
    }

    #[test]
    fn the_answer_stays_in_the_vlan() {
        let annotations = vec![(Anno::VLAN_TCI, u64::from(u16::from_ne_bytes([0, 5])))];
        let sent = Sent { data: solicitation("2001:db8::7"), annotations, ..Sent::default() };
        let flow = send(&CONFIG.replace("Collect", "VLANEncap(ANNO) -> Collect"), [sent]);
        assert_eq!(flow.only(0).data()[12..18], [0x81, 0, 0, 5, 0x86, 0xdd]);
    }

    /// Who wants to take an address is told, with all others, whose it is; who asks without naming its Ethernet address is answered, too.
    #[test]
    fn without_source_or_option() {
        let flow = send(CONFIG, [from("::", "2001:db8::7", &[]), from("fe80::1", "2001:db8::7", &[])]);
        let answers = flow.data(0);
        for (answer, to, to_ip, flags) in
            [(&answers[0], [0x33, 0x33, 0, 0, 0, 1], "ff02::1", 0xa0), (&answers[1], [2; 6], "fe80::1", 0xe0)]
        {
            let ip = ipv6::Header::new_checked(&answer[14..]).unwrap();
            assert_eq!((&answer[..6], ip.dst(), answer[58]), (&to[..], to_ip.parse().unwrap(), flags));
            assert_eq!((answer.len(), &answer[78..]), (86, &[2, 1, 7, 7, 7, 7, 7, 7][..]));
            assert_eq!(icmpv6::verify_checksum(ip.src(), ip.dst(), &answer[54..]), Ok(()));
        }
    }

    /// What a node has to discard (RFC 4861, section 7.1.1), beside the noise below.
    #[test]
    fn improper_solicitations_have_no_answer() {
        let (sound, zero) = ([1, 1, 2, 2, 2, 2, 2, 2], [14, 0, 0, 0, 0, 0, 0, 0]);
        let target = "2001:db8::7";
        let mut coded = from("fe80::1", target, &sound);
        coded[55] = 1;
        let far = [&coded[..21], &[254], &from("fe80::1", target, &sound)[22..]].concat();
        let improper = [
            ("an option of length zero", from("fe80::1", target, &zero)),
            ("one behind a sound one", from("fe80::1", target, &[sound, zero].concat())),
            ("an option cut short", from("fe80::1", target, &[14, 2, 0, 0, 0, 0, 0, 0])),
            ("an Ethernet address, but no other", from("::", target, &sound)),
            ("no address, and all are asked", from_to("::", "ff02::1", target, &[])),
            ("no address, and another's group is asked", from_to("::", "ff02::1:ff00:8", target, &[])),
            ("no address, and no group is asked", from_to("::", target, target, &[])),
            ("a group as the target", from("fe80::1", "ff02::7", &sound)),
            ("a code, and a wrong checksum", coded),
            ("a hop limit of 254", far),
        ];
        let config = CONFIG.replace("2001:db8::/32", "::/0");
        for (what, frame) in improper {
            assert_eq!(send(&config, [frame]).seen.len(), 0, "{what}");
        }
        let unknown = from("fe80::1", target, &[[14, 1, 0, 0, 0, 0, 0, 0], sound].concat());
        let direct = from_to("fe80::1", target, target, &[]);
        assert_eq!(send(&config, [unknown, direct]).seen.len(), 2);
    }

    #[test]
    fn handlers_change_the_table() {
        let mut flow = send(CONFIG, [solicitation("2001:db8::7")]);
        assert_eq!(flow.write("IP6NDAdvertiser@2.add", "2001:db8::/64 6:6:6:6:6:6 2001:db8::7"), "");
        let table = "2001:db8::7/128 06-06-06-06-06-06\n2001:db8::/64 06-06-06-06-06-06\n2001:db8::/32 09-09-09-09-09-09\n";
        assert_eq!(flow.read("IP6NDAdvertiser@2.table"), table);
        assert_eq!(flow.write("IP6NDAdvertiser@2.remove", "2001:db8::/64"), "");
        assert_eq!(flow.read_with("IP6NDAdvertiser@2.lookup", "2001:db8::8"), "09-09-09-09-09-09");
        assert_eq!(flow.write("IP6NDAdvertiser@2.remove", "2001:db8::/64"), "error: 2001:db8::/64 not found");
    }

    #[test]
    fn bad_arguments() {
        let text = errors("Idle -> IP6NDAdvertiser(::1, 1:1:1:1:1:1, ::1 x) -> Discard");
        for part in ["argument 0 had no Ethernet", "argument 1 had no IP6", "argument 2 should be"] {
            assert!(text.contains(part), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// One wrong byte in header or message and there is no answer; none at all to noise.
        #[test]
        fn whatever_comes(at in 20usize..86, flip in 1u8.., noise in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut frame = solicitation("2001:db8::7");
            frame[at] ^= flip;
            prop_assert_eq!(send(CONFIG, [frame, noise]).seen.len(), 0);
        }
    }
}
