use super::super::too_big;
use super::*;
use crate::testing::{build, errors, send, send_singly};
use elements_testing::{ip6_samples, samples};
use proptest::prelude::*;
use router::Call;
use wire::esp;

const KEY: &str = "key 00112233445566778899aabbccddeeff01020304";
const OUT: &str = "POLICY out 0.0.0.0/0 0.0.0.0/0 protect 192.0.2.1 198.51.100.1, POLICY out ::/0 ::/0 protect 192.0.2.1 198.51.100.1";
const IN: &str = "POLICY in 0.0.0.0/0 0.0.0.0/0 protect 192.0.2.1 198.51.100.1, POLICY in ::/0 ::/0 protect 192.0.2.1 198.51.100.1";

/// An association from 192.0.2.1 to 198.51.100.1.
fn sa(rest: &str) -> String {
    format!("SA 192.0.2.1 198.51.100.1 0x1001 aes-gcm {KEY} {rest}")
}

/// Packets go out through one gateway (Collect(2)), with something done to them, and into the other: what comes out of that, and why packets are dropped.
fn through(
    packets: Vec<Vec<u8>>,
    out: &str,
    between: &str,
    into: &str,
) -> (Vec<Vec<u8>>, Vec<(&'static str, u64)>) {
    let config = format!(
        "Inject -> out :: IPsec({out}); Idle -> [1]out; out[1] -> Collect(1);
         out[0] {between} -> [1]into :: IPsec({into}); Idle -> into; into[0] -> Collect(2); into[1] -> Collect(0)"
    );
    let flow = send(&config, packets);
    (flow.data(0), flow.drops())
}

fn both() -> Vec<Vec<u8>> {
    (0..120).flat_map(|len| [samples::udp(len), ip6_samples::udp(len)]).collect()
}

/// Both families through tunnels of both, by all algorithms.
#[test]
fn there_and_back() {
    let key = |octets: usize| (0..octets).map(|at| format!("{:02x}", (at * 7 + 1) % 256)).collect::<String>();
    for (from, to) in [("192.0.2.1", "198.51.100.1"), ("2001:db8::1", "2001:db8::2")] {
        for (algorithm, octets) in [
            ("aes-gcm", 20),
            ("aes-gcm", 36),
            ("chacha20-poly1305", 36),
            ("aes-gmac", 20),
            ("aes-cbc-sha256", 48),
            ("aes-cbc-sha256", 64),
        ] {
            for rest in ["", "esn", "udp 4500 4500"] {
                let sa = format!("SA {from} {to} 0x1001 {algorithm} key {} {rest}", key(octets));
                let policy = |side| {
                    format!(
                        "{sa}, POLICY {side} 0.0.0.0/0 0.0.0.0/0 protect {from} {to}, POLICY {side} ::/0 ::/0 protect {from} {to}"
                    )
                };
                let (got, drops) = through(both(), &policy("out"), "", &policy("in"));
                assert_eq!((got, drops), (both(), vec![]), "{algorithm} {rest} {to}");
            }
        }
    }
}

#[test]
fn transport_mode() {
    let address =
        |len| samples::with_addresses(samples::udp(len), [192, 0, 2, 1].into(), [198, 51, 100, 1].into());
    let packets: Vec<_> = (0..60).map(address).collect();
    for rest in ["mode transport", "mode transport udp 4500 4500", "mode transport esn"] {
        let out = format!(
            "{}, POLICY out 192.0.2.1 198.51.100.1 protect 192.0.2.1 198.51.100.1 mode transport",
            sa(rest)
        );
        let into = format!(
            "{}, POLICY in 192.0.2.1 198.51.100.1 protect 192.0.2.1 198.51.100.1 mode transport",
            sa(rest)
        );
        assert_eq!(through(packets.clone(), &out, "", &into), (packets.clone(), vec![]), "{rest}");
        // What was protected must be protected as the policy says.
        let tunnel = format!("{}, {IN}", sa(rest));
        let reason = "protected by another association than the policy says";
        assert_eq!(through(packets.clone(), &out, "", &tunnel), (vec![], vec![(reason, 60)]), "{rest}");
    }
}

/// A policy of transport mode that names no addresses, as those of IKE daemons, protects packets by the association between their own.
#[test]
fn transport_mode_between_the_packets_own_addresses() {
    let sa = |to: u8, reqid: u8| {
        format!("SA 192.0.2.1 198.51.100.{to} 0x100{to} aes-gcm {KEY} mode transport reqid {reqid}")
    };
    let all = [sa(1, 7), sa(2, 7), sa(3, 8)].join(", ");
    let policy = |side| {
        format!("{all}, POLICY {side} 0.0.0.0/0 0.0.0.0/0 protect 0.0.0.0 0.0.0.0 reqid 7 mode transport")
    };
    let to =
        |last| samples::with_addresses(samples::udp(9), [192, 0, 2, 1].into(), [198, 51, 100, last].into());
    let (got, drops) = through((1..=4).map(to).collect(), &policy("out"), "", &policy("in"));
    assert_eq!((got, &drops[..]), (vec![to(1), to(2)], &[("no association yet", 2)][..]));
}

/// Text of ESP that the peer of `sa` has sent.
fn sealed(number: u64, text: &[u8], next: u8) -> Vec<u8> {
    let words = sa("");
    let of = text::association(&split(words.trim_start_matches("SA ")), 0, true).expect("an association");
    let sa = Sa::new(of, 9, 1, None).expect("a key");
    let padding = esp::padding(text.len(), sa.cipher.alignment());
    let front = esp::HEADER_LEN + sa.cipher.iv_len();
    let end = front + text.len() + padding + esp::TRAILER_LEN;
    let mut body = vec![0; end + ciphers::CHECK_LEN];
    body[front..front + text.len()].copy_from_slice(text);
    esp::fill_trailer(&mut body[front + text.len()..end], next);
    assert!(sa.seal(number, &mut body));
    let mut packet = samples::udp(body.len() - 8);
    packet[20..].copy_from_slice(&body);
    packet[9] = 50;
    let packet = samples::with_addresses(packet, [192, 0, 2, 1].into(), [198, 51, 100, 1].into());
    samples::edited(packet, |ip| ip.set_protocol(50))
}

/// Padding that hides how long packets are, behind them in the tunnel, is removed, and dummies are dropped (RFC 4303, sections 2.7 and 2.6).
#[test]
fn what_hides_traffic_is_accepted() {
    let config =
        format!("Inject -> [1]e :: IPsec({}, {IN}); Idle -> e; e[0] -> Discard; e[1] -> Collect(0)", sa(""));
    let padded = |packet: Vec<u8>| [packet, vec![0; 137]].concat();
    let packets = [
        sealed(1, &padded(samples::udp(9)), 4),
        sealed(2, &[0x45; 99], 59),
        sealed(3, &padded(ip6_samples::udp(30)), 41),
        sealed(4, b"", 59),
    ];
    let flow = send(&config, packets);
    assert_eq!(
        (flow.data(0), flow.drops()),
        (vec![samples::udp(9), ip6_samples::udp(30)], vec![("dummy", 2)])
    );
}

/// The tunnel's header: DSCP and congestion mark, whether it may be cut, addresses; and that nothing inside can be read.
#[test]
fn what_is_sent() {
    let inner = samples::edited(samples::udp(40), |ip| {
        ip.set_tos(0xba);
        ip.set_fragment_field(0x4000);
    });
    let config = format!(
        "Inject -> e :: IPsec({}, {OUT}); Idle -> [1]e; e[0] -> Collect(0); e[1] -> Collect(1)",
        sa("")
    );
    let mut flow = send(&config, [inner.clone(), samples::udp(40), b"none".to_vec()]);
    let data = flow.data(0);
    assert_eq!((data[0][1], data[0][6] & 0x40, data[1][6] & 0x40, data[0][9]), (0xba, 0x40, 0, 50));
    assert_eq!(data[0][12..20], [192, 0, 2, 1, 198, 51, 100, 1]);
    assert_eq!(
        (&data[0][20..28], &data[1][20..28]),
        (&[0, 0, 0x10, 1, 0, 0, 0, 1][..], &[0, 0, 0x10, 1, 0, 0, 0, 2][..])
    );
    assert_ne!(data[0][28..36], data[1][28..36]);
    assert!(wire::ipv4::check(&data[0], true).is_ok());
    assert!(data[0].windows(8).all(|part| part != &inner[12..20]));
    assert_eq!(flow.drops(), vec![("no IP packet", 1)]);
    let shown = flow.read("e.associations");
    assert_eq!(
        shown,
        "192.0.2.1 198.51.100.1 0x00001001 aes-gcm tunnel reqid 0 packets 2 bytes 136 sent 2 received 0\n"
    );
    assert!(!flow.read("e.associations").contains("00112233"));
    assert_eq!(
        flow.read("e.policies").lines().next(),
        Some("out 0.0.0.0/0 0.0.0.0/0 protect 192.0.2.1 198.51.100.1 reqid 0 mode tunnel")
    );
}

#[test]
fn what_is_changed_comes_again_or_is_unknown() {
    let (out, into) = (format!("{}, {OUT}", sa("")), format!("{}, {IN}", sa("")));
    let packets: Vec<_> = (0..40).map(samples::udp).collect();
    for at in [24, 28, 36, 50, 60] {
        let (got, drops) = through(packets.clone(), &out, &format!("-> StoreData({at}, \\<a5>)"), &into);
        let reason = drops[0].0;
        assert_eq!((got.len(), &drops[..]), (0, &[(reason, 40)][..]), "{at}");
    }
    // With another number they wait for its association.
    assert_eq!(through(packets.clone(), &out, "-> StoreData(20, \\<a5>)", &into), (vec![], vec![]));
    let (got, drops) = through(packets.clone(), &out, "-> t :: Tee; t[1] -> i :: Null; t[0] -> i", &into);
    assert_eq!((got, drops), (packets.clone(), vec![("has come before", 40)]));
    for (len, reason) in [(25, "too short"), (40, "too short"), (60, "was changed")] {
        let (_, drops) = through(packets[..1].to_vec(), &out, &format!("-> Truncate({len})"), &into);
        assert!(
            drops.iter().all(|(why, _)| [reason, "too short"].contains(why)) && !drops.is_empty(),
            "{len}: {drops:?}"
        );
    }
    let other = into.replace("ccddeeff", "ccddeefe");
    assert_eq!(through(packets.clone(), &out, "", &other), (vec![], vec![("was changed", 40)]));
    let in_udp = format!("{}, {IN}", sa("udp 4500 4500"));
    let reason = "in UDP, or not, against what was agreed";
    assert_eq!(through(packets, &out, "", &in_udp), (vec![], vec![(reason, 40)]));
}

/// Policies in both directions, by prefix, protocol, port and priority; what is in the clear where it must not be, and the other way round.
#[test]
fn policies_decide() {
    let out = |policies: &str| {
        through(
            vec![samples::udp(9)],
            &format!("{}, {policies}", sa("")),
            "",
            &format!("{}, {IN}, DEFAULT bypass", sa("")),
        )
    };
    let protect = "protect 192.0.2.1 198.51.100.1";
    assert_eq!(out(&format!("POLICY out 18.0.0.0/8 10.9.0.0/16 {protect}")).0.len(), 1);
    assert_eq!(out("DEFAULT discard").1, [("no policy", 1)]);
    assert_eq!(out("POLICY out 18.0.0.0/8 10.9.0.0/16 discard").1, [("the policy says discard", 1)]);
    assert_eq!(out("POLICY out 18.0.0.0/8 10.9.0.0/16 bypass").1, [("not protected as the policy says", 1)]);
    assert_eq!(out("DEFAULT bypass").1, [("not protected as the policy says", 1)]);
    assert_eq!(
        out(&format!("POLICY out 0.0.0.0/0 10.9.0.0/16 {protect} proto 6 priority 1, DEFAULT discard")).1,
        [("no policy", 1)]
    );
    let ordered = format!(
        "POLICY out 0.0.0.0/0 10.9.0.0/16 discard priority 9, POLICY out 0.0.0.0/0 0.0.0.0/0 {protect} dport 5001 priority 8"
    );
    assert_eq!(out(&ordered).0.len(), 1);
    assert_eq!(
        out("POLICY out 0.0.0.0/0 0.0.0.0/0 protect 192.0.2.1 198.51.100.7").1,
        [("no association yet", 1)]
    );
    let into = |policies: &str| {
        let (out, into) = (format!("{}, {OUT}", sa("")), format!("{}, {policies}", sa("")));
        through(vec![samples::udp(9)], &out, "", &into)
    };
    assert_eq!(into("DEFAULT bypass").1, [("no policy", 1)]);
    assert_eq!(
        into("POLICY in 0.0.0.0/0 0.0.0.0/0 bypass").1,
        [("protected, where the policy says bypass", 1)]
    );
    assert_eq!(into("POLICY in 0.0.0.0/0 0.0.0.0/0 protect 192.0.2.9 198.51.100.1").1.len(), 1);
}

/// Too long for the tunnel: senders that must not be cut are told what fits, and that fits.
#[test]
fn senders_learn_what_fits() {
    for (out, whole) in [
        (
            format!("{}, {OUT}, MTU 1400", sa("")),
            samples::edited(samples::udp(1400), |ip| ip.set_fragment_field(0x4000)),
        ),
        (format!("{}, {OUT}, MTU 1400", sa("udp 4500 4500")), ip6_samples::udp(1400)),
    ] {
        let config =
            format!("Inject -> e :: IPsec({out}); Idle -> [1]e; e[0] -> Collect(0); e[1] -> Collect(1)");
        let flow = send(&config, [whole.clone()]);
        let answer = &flow.data(1)[0];
        let six = whole[0] >> 4 == 6;
        let mtu = if six {
            u32::from_be_bytes(answer[44..48].try_into().unwrap()) as usize
        } else {
            usize::from(u16::from_be_bytes(answer[26..28].try_into().unwrap()))
        };
        let (from, to) =
            if six { (&answer[8..24], &answer[24..40]) } else { (&answer[12..16], &answer[16..20]) };
        let (source, destination) =
            if six { (&whole[8..24], &whole[24..40]) } else { (&whole[12..16], &whole[16..20]) };
        assert_eq!(to, source);
        assert_eq!(from == destination, six);
        let fits = if six { ip6_samples::udp(mtu - 48) } else { samples::udp(mtu - 28) };
        let more = if six { ip6_samples::udp(mtu - 47) } else { samples::udp(mtu - 27) };
        let sent = send(&config, [fits, more]).data(0);
        assert!(sent[0].len() <= 1400 && (six || sent[1].len() > 1400), "{} {mtu}", sent[0].len());
    }
}

/// A gateway whose input 1 gets ICMP errors, and input 0 the rest, one after the other.
fn told(arguments: &str, packets: Vec<Vec<u8>>) -> crate::testing::Flow {
    let config = format!(
        "Inject -> c :: Classifier(0/4? 9/01 20/03, 0/6? 6/3a 40/02, -); c[0] -> [1]e :: IPsec({arguments}); c[1] -> [1]e; c[2] -> e;
         e[0] -> Collect(0); e[1] -> Collect(1)"
    );
    send_singly(&config, packets)
}

/// Routers outside say that ESP is too long: senders are told what fits then, and that fits. Who has not seen packets is not believed.
#[test]
fn routers_outside_are_heeded() {
    let key = format!("aes-gcm {KEY}");
    let four = |len| samples::edited(samples::udp(len), |ip| ip.set_fragment_field(0x4000));
    let six: fn(usize) -> Vec<u8> = ip6_samples::udp;
    let protect = "POLICY out 0.0.0.0/0 0.0.0.0/0 protect";
    for (ends, rest, whole, from) in [
        ("192.0.2.1 198.51.100.1", "", four(1300), 28),
        ("192.0.2.1 198.51.100.1", "udp 4500 4501", four(1300), 28),
        ("2001:db8::1 2001:db8::2", "esn", six(1350), 48),
    ] {
        let is_six = whole[0] >> 4 == 6;
        let arguments =
            format!("SA {ends} 0x1001 {key} {rest}, {protect} {ends}, POLICY out ::/0 ::/0 protect {ends}");
        let esp = told(&arguments, vec![whole.clone()]).data(0)[0].clone();
        let router = if is_six { "2001:db8::9".parse() } else { "203.0.113.9".parse() }.expect("an address");
        let says = |esp: &[u8], mtu| {
            let mut pool = packet::Pool::new();
            too_big::answer(&mut pool, esp, mtu, router).expect("an answer").data().to_vec()
        };
        let mut flow = told(&arguments, vec![whole.clone(), says(&esp, 1370), whole.clone()]);
        assert_eq!(
            (flow.data(0).len(), flow.drops()),
            (1, vec![("too long for the tunnel", 1)]),
            "{ends} {rest}"
        );
        assert!(flow.read("e.associations").contains(" mtu 1370\n"), "{}", flow.read("e.associations"));
        let answer = &flow.data(1)[0];
        let mtu = if is_six {
            u32::from_be_bytes(answer[44..48].try_into().unwrap()) as usize
        } else {
            usize::from(u16::from_be_bytes(answer[26..28].try_into().unwrap()))
        };
        let of = |len: usize| if is_six { six(len - from) } else { four(len - from) };
        let flow = told(&arguments, vec![whole.clone(), says(&esp, 1370), of(mtu), of(mtu + 1)]);
        assert_eq!((flow.data(0).len(), flow.data(1).len()), (2, 1), "{ends} {rest} {mtu}");
        assert!((1367..=1370).contains(&flow.data(0)[1].len()), "{ends} {rest} {mtu}");

        // Another SPI, a number that was not sent, other addresses, and one that asks not to believe any.
        let at = esp.windows(4).position(|part| part == [0, 0, 0x10, 1]).expect("the SPI");
        let changed = |at: usize| {
            let mut esp = esp.clone();
            esp[at] ^= 1;
            says(&esp, 1370)
        };
        let wrong = [
            changed(at + 3),
            changed(at + 7),
            changed(if is_six { 23 } else { 15 }),
            changed(if is_six { 39 } else { 19 }),
        ];
        let packets = [vec![whole.clone()], wrong.to_vec(), vec![whole.clone()]].concat();
        let mut flow = told(&arguments, packets);
        assert_eq!((flow.data(0).len(), flow.drops()), (2, vec![("no policy", 4)]), "{ends} {rest}");
        assert!(!flow.read("e.associations").contains("mtu"));
        let flow = told(&format!("{arguments}, PMTU false"), vec![whole.clone(), says(&esp, 1370), whole]);
        assert_eq!((flow.data(0).len(), flow.drops()), (2, vec![("no policy", 1)]), "{ends} {rest}");
    }
}

/// Over IPv6 no router cuts ESP that is too long for its link: the gateway does, and the other one has it whole again.
#[test]
fn what_may_be_cut_is_cut_to_what_passes() {
    let ends = "2001:db8::1 2001:db8::2";
    let policies = |side| {
        format!("POLICY {side} 0.0.0.0/0 0.0.0.0/0 protect {ends}, POLICY {side} ::/0 ::/0 protect {ends}")
    };
    for rest in ["", "udp 4500 4501", "esn"] {
        let sa = format!("SA {ends} 0x1001 aes-gcm {KEY} {rest}");
        let arguments = format!("{sa}, {}", policies("out"));
        // Two parts, three, and as many as the longest has; and what passes as it is.
        let packets = vec![
            ip6_samples::udp(1280 - 48),
            samples::udp(1400),
            samples::udp(2600),
            samples::udp(9000),
            samples::udp(900),
        ];
        let first = samples::udp(1400);
        let esp = told(&arguments, vec![first.clone()]).data(0)[0].clone();
        let mut pool = packet::Pool::new();
        let router = "2001:db8::9".parse().expect("an address");
        let said = too_big::answer(&mut pool, &esp, 1281, router).expect("an answer").data().to_vec();
        let flow = told(&arguments, [vec![first.clone(), said], packets.clone()].concat());
        assert_eq!((flow.drops(), flow.data(1).len()), (vec![], 0), "{rest}");
        let sent = flow.data(0);
        assert_eq!(sent[0].len(), esp.len());
        assert!(sent[1..].iter().all(|part| part.len() <= 1281), "{rest}");
        let parts = sent[1..].iter().filter(|part| part[6] == 44).count();
        assert_eq!((parts, sent.len()), (2 + 2 + 3 + 8, 1 + 15 + 1), "{rest}");
        let into = format!(
            "Inject -> MarkIP6Header -> IP6Reassembler -> [1]e :: IPsec({sa}, {}, NAT_PORT 4501); Idle -> e; e[0] -> Discard; e[1] -> Collect(0)",
            policies("in")
        );
        let back = send(&into, sent);
        assert_eq!((back.data(0), back.drops()), ([vec![first], packets].concat(), vec![]), "{rest}");
    }
}

/// What an association may do is counted to the packet; a younger one takes over before that.
#[test]
fn lifetimes() {
    let packets: Vec<_> = (0..40).map(|_| samples::udp(9)).collect();
    let into = format!("{}, {IN}", sa(""));
    // Runs of packets are counted together, so one by one.
    let config = format!(
        "Inject -> e :: IPsec({}, {OUT}); Idle -> [1]e; e[0] -> Collect(0); e[1] -> Discard",
        sa("hard-packets 3")
    );
    let flow = send_singly(&config, packets.clone());
    assert_eq!((flow.data(0).len(), &flow.drops()[..]), (3, &[("no association yet", 37)][..]));
    let next = "SA 192.0.2.1 198.51.100.1 0x1002 aes-gcm key 10112233445566778899aabbccddeeff01020304";
    let (got, drops) = through(
        packets.clone(),
        &format!("{}, {next}, {OUT}", sa("")),
        "",
        &format!("{}, {next}, {IN}", sa("")),
    );
    assert_eq!((got.len(), drops.len()), (40, 0));
    let (got, drops) = through(packets, &format!("{}, {OUT}", sa("hard-seconds 0")), "", &into);
    assert_eq!((got.len(), &drops[..]), (0, &[("no association yet", 40)][..]));
}

/// IKE reaches the host, keepalives end and are no drops, clear packets are left to the policy.
#[test]
fn what_is_for_the_host() {
    let to = |port: u16, body: &[u8]| {
        let mut packet = samples::udp(body.len());
        packet[22..24].copy_from_slice(&port.to_be_bytes());
        packet[28..].copy_from_slice(body);
        packet
    };
    let config = "Inject -> [1]e :: IPsec(DEFAULT bypass); Idle -> e; e[0] -> Collect(0); e[1] -> Collect(1); e[2] -> Collect(2)";
    let packets = [
        to(500, b"ike"),
        to(4500, &[0, 0, 0, 0, 1]),
        to(4500, &[0xff]),
        to(4500, &[0, 0, 9, 9, 0, 0, 0, 1]),
        to(53, b"?"),
    ];
    let mut flow = send(config, packets.clone());
    assert_eq!((flow.data(2), flow.data(1)), (packets[..2].to_vec(), vec![packets[4].clone()]));
    assert_eq!((flow.drops(), flow.read("e.waiting")), (vec![], "1".into()));
}

/// Two workers on one association: no number comes twice, each packet gets through once, and so it is behind a swap with another worker.
#[test]
fn two_workers_on_one_association() {
    let config = |second: u32| {
        format!(
            "s1 :: InfiniteSource(DATA \\<{data}>, LIMIT 500) -> e :: IPsec({}, {OUT}); Idle -> [1]e; e[1] -> Discard;
             s2 :: InfiniteSource(DATA \\<{data}>, LIMIT 500) -> e; e[0] -> t :: Tee -> [1]d :: IPsec({}, {IN}); t[1] -> [1]d; Idle -> d; d[0] -> Discard;
             d[1] -> c :: Counter -> Discard; StaticThreadSched(s1 0, s2 {second}); Script(wait 1, stop)",
            sa(""),
            sa(""),
            data = samples::udp(9).iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
        )
    };
    let mut old = build(&config(1), 2, 8).expect("a good configuration");
    old.run();
    let mut read = |name: &str| old.call(Call::read(name, "")).unwrap_or_default();
    assert_eq!(read("c.count"), "1000");
    assert!(read("e.associations").contains("sent 1000 "), "{}", read("e.associations"));
    assert!(read("d.associations").contains("packets 1000 "), "{}", read("d.associations"));
    let mut new = build(&config(0), 2, 8).expect("a good configuration");
    new.take_over(&mut old).expect("taken over");
    new.run();
    let mut read = |name: &str| new.call(Call::read(name, "")).unwrap_or_default();
    // A new Counter begins at 0.
    assert_eq!(read("c.count"), "1000");
    assert!(read("e.associations").contains("sent 2000 "), "{}", read("e.associations"));
}

/// A swap takes away what arguments no longer have, keeps what commands brought, and goes on with the numbers of a key whose window is another one.
#[test]
fn arguments_change() {
    let config = |arguments: &str| {
        let data = samples::udp(9).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!(
            "InfiniteSource(DATA \\<{data}>, LIMIT 100) -> e :: IPsec({arguments}); Idle -> [1]e; e[0] -> Discard; e[1] -> Discard;
             Script(wait 1, stop)"
        )
    };
    let mut old = build(&config(&format!("{}, {OUT}", sa(""))), 1, 8).expect("a good configuration");
    old.run();
    let key = KEY.replace("0011", "1122");
    old.call(Call::write("e.add_association", format!("192.0.2.1 198.51.100.9 0x3003 aes-gcm {key}")))
        .expect("added");
    let mut new = build(&config(&format!("{}, {OUT}", sa("window 64"))), 1, 8).expect("a good configuration");
    new.take_over(&mut old).expect("taken over");
    new.run();
    let shown = new.call(Call::read("e.associations", "")).unwrap_or_default();
    assert!(
        shown.contains("sent 200 ") && shown.contains("0x00003003") && shown.lines().count() == 2,
        "{shown}"
    );
    let mut last =
        build(&config("POLICY out 0.0.0.0/0 0.0.0.0/0 bypass"), 1, 8).expect("a good configuration");
    last.take_over(&mut new).expect("taken over");
    let mut read = |name: &str| last.call(Call::read(name, "")).unwrap_or_default();
    assert_eq!(read("e.policies"), "out 0.0.0.0/0 0.0.0.0/0 bypass\n");
    assert!(!read("e.associations").contains("0x00001001"), "{}", read("e.associations"));
}

#[test]
fn commands() {
    let mut flow = send(
        "Idle -> e :: IPsec(); Idle -> [1]e; e[0] -> Discard; e[1] -> Discard; Inject -> Discard",
        [samples::udp(1)],
    );
    let association = format!("192.0.2.1 198.51.100.1 0x1001 aes-gcm {KEY} reqid 7");
    assert_eq!(flow.write("e.add_association", &association), "");
    assert_eq!(
        flow.write("e.add_policy", "out 10.0.0.0/8 10.1.0.0/16 protect 192.0.2.1 198.51.100.1 reqid 7"),
        ""
    );
    assert_eq!((flow.read("e.association_count"), flow.read("e.policy_count")), ("1".into(), "1".into()));
    assert_eq!(flow.write("e.remove_policy", "out 10.0.0.0/8 10.1.0.0/16 bypass"), "");
    assert_eq!(flow.write("e.remove_association", "198.51.100.1 0x1001"), "");
    assert_eq!((flow.read("e.associations"), flow.read("e.policies")), (String::new(), String::new()));
    // No answer has a key in it, also where a word is missing so that the key is taken for another one.
    for wrong in
        ["reqid 00112233445566778899aabbccddeeff01020304 nothing", &format!("{association} 0011223344")]
    {
        let answer = flow.write("e.add_association", wrong);
        assert!(answer.contains("error") || !answer.is_empty(), "{answer}");
    }
    let answer = flow.write("e.add_association", &association.replace("01020304", "0102030405 00112233"));
    assert!(!answer.contains("0011"), "{answer}");
}

/// Listeners are told what comes, what takes the place of another one, and what goes; not what is said again.
#[test]
fn listeners_hear_of_associations() {
    let config = "Idle -> e :: IPsec(); Idle -> [1]e; e[0] -> Discard; e[1] -> Discard;";
    let mut router = build(config, 1, 8).expect("a good configuration");
    let events = router.info().events.subscribe(vec!["ipsec".to_owned()]);
    let mut write = |handler: &str, words: &str| router.call(Call::write(handler, words)).expect("done");
    for (spi, reqid) in [(0x1001, 7), (0x1001, 7), (0x1002, 8), (0x1003, 7)] {
        let words = format!("192.0.2.1 198.51.100.1 {spi:#x} aes-gcm {KEY} reqid {reqid}");
        write("e.add_association", &words);
    }
    for _ in 0..2 {
        write("e.remove_association", "198.51.100.1 0x1001");
    }
    let told: Vec<String> = events.try_iter().collect();
    let event = |what: &str, spi: u32| format!("ipsec e {what} 198.51.100.1 0x{spi:08x}");
    assert_eq!(
        told,
        [event("new", 0x1001), event("new", 0x1002), event("renewed", 0x1003), event("gone", 0x1001)]
    );
}

/// Neither the handlers of elements nor those of the whole configuration show a key, and the rest they show.
#[test]
fn no_handler_shows_a_key() {
    let digits = KEY.trim_start_matches("key ");
    let config = format!(
        "define($secret {digits});
         Idle -> e :: IPsec(SA 192.0.2.1 198.51.100.1 0x1001 aes-gcm key $secret reqid 7, MTU 1400); Idle -> [1]e; e[0] -> Discard; e[1] -> Discard;
         Idle -> there :: ESPEncap(300, \\<{digits}>, ESN true) -> here :: ESPDecap(300, KEY \\<{digits}>, ESN true, WINDOW 64) -> Discard;
         s :: Script(TYPE PASSIVE, write e.add_association 192.0.2.1 198.51.100.9 0x3003 aes-gcm key $secret, write there.config KEY \\<{digits}>)"
    );
    let mut router = build(&config, 1, 1).expect("a good configuration");
    let mut read = |path: &str| router.call(Call::read(path, "")).expect("a handler");
    for path in ["config", "flatconfig", "e.config", "there.config", "here.config", "s.config"] {
        let text = read(path);
        assert!(!text.contains("0011") && text.contains("***"), "{path}: {text}");
    }
    assert_eq!(read("e.config"), "SA 192.0.2.1 198.51.100.1 0x1001 aes-gcm key *** reqid 7, MTU 1400");
    assert_eq!(read("there.config"), "300, ***, ESN true");
    assert_eq!(read("here.config"), "300, KEY ***, ESN true, WINDOW 64");
    // A script that writes one may be all that has a key.
    let config = format!(
        "Idle -> e :: IPsec(); Idle -> [1]e; e[0] -> Discard; e[1] -> Discard;
         s :: Script(TYPE PASSIVE, write e.add_association 192.0.2.1 198.51.100.9 0x3003 aes-gcm {KEY} esn)"
    );
    let mut router = build(&config, 1, 1).expect("a good configuration");
    for path in ["config", "flatconfig", "s.config"] {
        let text = router.call(Call::read(path, "")).expect("a handler");
        assert!(
            !text.contains("0011") && text.contains("key **** esn".replace("****", &"*".repeat(40)).as_str()),
            "{path}: {text}"
        );
    }
    // A configuration without keys is shown as it is written.
    let config = "Idle  -> e :: IPsec(MTU 1400); Idle -> [1]e; e[0] -> Discard; e[1] -> Discard // text";
    let mut router = build(config, 1, 1).expect("a good configuration");
    assert_eq!(router.call(Call::read("config", "")).expect("a handler"), config);
    let config = "SA 192.0.2.1 198.51.100.1 0x1001 aes-gcm keyfile x, POLICY out ::/0 ::/0 bypass";
    assert_eq!(super::CLASS.shown(config, &Default::default()), config);
}

#[test]
fn wrong_arguments() {
    for (arguments, message) in [
        ("SA 192.0.2.1", "DESTINATION is missing"),
        ("SA 192.0.2.1 ::1 300 aes-gcm key 00112233445566778899aabbccddeeff01020304", "different families"),
        ("SA 192.0.2.1 192.0.2.2 1 aes-gcm key 00112233445566778899aabbccddeeff01020304", "at least 256"),
        ("SA 192.0.2.1 192.0.2.2 300 aes-gcm key 0011", "20 or 36 octets"),
        ("SA 192.0.2.1 192.0.2.2 300 des key 0011", "none of the algorithms"),
        ("SA 192.0.2.1 192.0.2.2 300 aes-gcm keyfile /does/not/exist", "/does/not/exist"),
        ("POLICY out 10.0.0.0/33 10.0.0.0/8 bypass", "no prefix"),
        ("POLICY up 10.0.0.0/8 10.0.0.0/8 bypass", "out or in"),
        ("DEFAULT maybe", "discard or bypass"),
        ("MTU 1", "MTU"),
    ] {
        let found = errors(&format!(
            "Idle -> e :: IPsec({arguments}); Idle -> [1]e; e[0] -> Discard; e[1] -> Discard"
        ));
        assert!(found.contains(message), "{arguments}: {found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever comes from either side, nothing of it gets in, and all of it is accounted for.
    #[test]
    fn whatever_comes(four in samples::hostile(), six in ip6_samples::hostile(), own in any::<bool>(), protocol in prop::sample::select(vec![17u8, 50])) {
        let mut packets = [four, six].concat();
        if own {
            for packet in packets.iter_mut().filter(|packet| packet.len() >= 24 && packet[0] >> 4 == 4) {
                packet[9] = protocol;
                packet[16..20].copy_from_slice(&[198, 51, 100, 1]);
                packet[20..24].copy_from_slice(&[0, 0, 0x10, 1]);
            }
        }
        let config = format!("Inject -> t :: Tee -> [1]e :: IPsec({}, {IN}, {OUT}); t[1] -> e; e[0] -> Discard; e[1] -> Collect(0)", sa(""));
        prop_assert_eq!(send(&config, packets).data(0).len(), 0);
    }
}
