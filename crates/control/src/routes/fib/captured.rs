//! What Linux 6.18 said while `ip` changed its routes, as the fuzz targets have it, too: in the files' order of commands. Its interfaces
//! eth1 to eth3 had the numbers 11 to 13, and addresses in 10.0.1.0/24 to 10.0.3.0/24.

use super::tests::Bench;
use crate::routes::netlink::{Message, messages};

/// The messages of a file of the corpus.
macro_rules! captured {
    ($name:literal) => {{
        let bytes = include_bytes!(concat!("../../../../../fuzz/corpus/netlink/kernel_", $name));
        let (found, used) = messages(bytes);
        assert_eq!(used, bytes.len());
        found
    }};
}

fn kernel() -> Bench {
    let mut bench = Bench::new(true);
    (1..4).for_each(|n| bench.link_as(10 + n, &format!("eth{n}"), true));
    bench
}

/// What the table has after each message.
fn texts(bench: &mut Bench, messages: Vec<Message>) -> Vec<String> {
    let mut text = |message| {
        bench.hear(message);
        bench.text()
    };
    messages.into_iter().map(&mut text).collect()
}

/// `add` .7, `append`, `prepend`, another for a type of service, `replace`, `change`, `del` of .7 and of the first.
#[test]
fn several_routes_of_ipv4_keep_their_order() {
    let mut bench = kernel();
    let ways = texts(&mut bench, captured!("order"));
    let expected = [
        "10.0.1.7>1",
        "10.0.1.7>1",
        "10.0.3.8>3",
        "10.0.3.8>3",
        "10.0.1.9>1",
        "10.0.1.10>1",
        "10.0.1.10>1",
        "10.0.2.8>2",
    ];
    assert_eq!(ways, expected.map(|way| format!("172.16.1.0/24 {way}*1\n")));
    assert_eq!((bench.fib.with_tos(), bench.fib.unsure()), (1, false));
}

/// 2001:db8:a::/48: `add` ::1, `append` ::2, `append` ::3 and ::4, `append` an interface, `del` ::2, `append` a black hole;
/// 2001:db8:b::/48: `add` ::1 and ::2, `replace` by ::9, `prepend` ::8.
#[test]
fn next_hops_of_ipv6_join_and_part() {
    let mut bench = kernel();
    let texts = texts(&mut bench, captured!("joined"));
    let a = |ways: &str| format!("2001:db8:a::/48{ways}\n");
    let four = a(" fe80::1>1*1 fe80::2>2*1 fe80::3>3*1 fe80::4>3*3");
    let three = a(" fe80::1>1*1 fe80::3>3*1 fe80::4>3*3");
    let first =
        [a(" fe80::1>1*1"), a(" fe80::1>1*1 fe80::2>2*1"), four.clone(), four, three.clone(), three.clone()];
    assert_eq!(texts[..6], first);
    let b = ["fe80::1>1*1 fe80::2>2*1", "fe80::9>1*1", "fe80::8>1*1 fe80::9>1*1"];
    assert_eq!(texts[6..], b.map(|ways| format!("{three}2001:db8:b::/48 {ways}\n")));
    assert!(!bench.fib.unsure());
}

/// Next-hop objects: gateways, a black hole, groups, a resilient one, one with a weight of 300, one for bridges; and what goes with them.
#[test]
fn next_hop_objects() {
    let mut bench = kernel();
    let texts = texts(&mut bench, captured!("objects"));
    let group = |one: &str| {
        format!(
            "172.16.1.0/24 {one}>1*1\n172.16.2.0/24 {one}>1*1 10.0.2.7>2*200\n172.16.3.0/24 {one}>1*3 10.0.2.7>2*1\n\
             172.16.4.0/24 ->9*1\n172.16.5.0/24 fe80::5>1*1\n172.16.6.0/24 {one}>1*300 10.0.2.7>2*1\n\
             2001:db8:c::/48 fe80::5>1*1\n"
        )
    };
    assert!(texts.contains(&group("10.0.1.7")) && texts.contains(&group("10.0.1.8")), "{texts:#?}");
    let end = "172.16.1.0/24 10.0.1.8>1*1\n172.16.2.0/24 10.0.1.8>1*1\n172.16.3.0/24 10.0.1.8>1*3\n\
               172.16.4.0/24 ->9*1\n172.16.6.0/24 10.0.1.8>1*300\n";
    assert_eq!(texts.last().map(String::as_str), Some(end), "with two objects routes and members are gone");
    assert!(!bench.fib.unsure());
}

/// Encapsulations (ip, seg6), also of one of several next hops and of an object; types that lead nowhere.
#[test]
fn routes_that_are_not_used_or_lead_nowhere() {
    let mut bench = kernel();
    let texts = texts(&mut bench, captured!("unused"));
    let end =
        "172.16.2.0/24 fe80::3>2*256\n172.16.4.0/24\n172.16.5.0/24\n172.16.6.0/24\n172.16.7.0/24 ->9*1\n";
    assert_eq!(texts.last().map(String::as_str), Some(end));
    assert_eq!((bench.fib.encapsulated(), bench.fib.unused()), (4, 3));
}

/// eth1 loses its carrier, and gets it back; it is set down and up; eth2 is named eth4.
#[test]
fn links_come_and_go() {
    let mut bench = kernel();
    let texts = texts(&mut bench, captured!("links"));
    let route = |ways: &str| format!("172.20.0.0/24{ways}\n");
    let of = |text: &String| {
        let start = text.find("172.20.0.0/24")?;
        text[start..].find('\n').map(|end| text[start..=start + end].to_owned())
    };
    let mut seen: Vec<String> = texts.iter().filter_map(of).collect();
    seen.dedup();
    let (both, second) = (route(" 10.0.1.3>1*1 10.0.2.3>2*1"), route(" 10.0.2.3>2*1"));
    let renamed = route(" 10.0.1.3>1*1 10.0.2.3>4*1");
    assert_eq!(seen, [both.clone(), second.clone(), both.clone(), second, both, renamed]);
}

/// A list of all routes in which one of two next hops is dead.
#[test]
fn a_dead_next_hop_is_left_out() {
    let mut bench = kernel();
    let texts = texts(&mut bench, captured!("dead"));
    let last = texts.last().map(String::as_str).unwrap_or_default();
    assert!(last.contains("172.20.0.0/24 10.0.1.3>1*1\n"), "{last}");
}
