use super::super::kernel::parse_json;
use super::super::{Faults, parse_any};
use super::*;

/// What a list says, a line a next hop, and how many routes were left out.
fn said(list: &List) -> Vec<String> {
    let v4 = list.v4.iter().map(|&(prefix, next_hops)| (AnyPrefix::V4(prefix), next_hops));
    let v6 = list.v6.iter().map(|&(prefix, next_hops)| (AnyPrefix::V6(prefix), next_hops));
    let mut lines = Vec::new();
    for (prefix, next_hops) in v4.chain(v6) {
        if next_hops == NextHops::Nowhere {
            lines.push(format!("{prefix} nowhere"));
        }
        for (hop, weight) in list.hops(next_hops) {
            let gateway = hop.gateway.map_or("-".to_owned(), |gateway| gateway.to_string());
            let port = hop.port.map_or("-".to_owned(), |port| port.to_string());
            let device = list.device(hop).unwrap_or("-");
            lines.push(format!("{prefix} {gateway} {port} {device} {weight}"));
        }
    }
    lines.push(format!("{} skipped", list.skipped));
    lines
}

fn list(text: &str) -> List {
    parse_table(text.as_bytes(), MAIN_TABLE)
}

/// The same of a text in which there is nothing wrong.
fn lines(text: &str) -> Vec<String> {
    said(&list(text).strict().unwrap())
}

fn faults(faults: &Faults) -> Vec<String> {
    faults.lines().collect()
}

#[test]
fn a_plain_list_has_prefixes_next_hops_and_ports() {
    let text = "# routes\n10.0.0.0/8\n\n192.0.2.0/255.255.255.0 10.0.0.1 2 # a comment\r\n2001:db8::/32 - 3\n1.2.3.4 4\n
        2001:db8::/48 fe80::1 5\n0/0\n10.1/16 4";
    let expected = [
        "10.0.0.0/8 - - - 1",
        "192.0.2.0/24 10.0.0.1 2 - 1",
        "1.2.3.4/32 - 4 - 1",
        "0.0.0.0/0 - - - 1",
        "10.1.0.0/16 - 4 - 1",
        "2001:db8::/32 - 3 - 1",
        "2001:db8::/48 fe80::1 5 - 1",
        "0 skipped",
    ];
    assert_eq!(lines(text), expected);
}

/// Several next hops as `set` takes them and as `table` prints them, gateways of the other family, and the output of what is dropped.
#[test]
fn a_plain_list_has_all_that_route_tables_print() {
    let text = "# Active routes\n10.0.0.0/8 nexthop 192.0.2.1 0 nexthop - 1 300\n11.0.0.0/8\t\t192.0.2.1\t0\tweight 40000\n\
        11.0.0.0/8\t\t-\t\t1\tweight 2\n12.0.0.0/8\t\t-\t\t-1\n13.0.0.0/8 -1\n14.0.0.0/8 fe80::1 0\n\
        15.0.0.0/8 nexthop 192.0.2.9 3 7\n2001:db8::/32\t::\t2\n2001:db8:1::/48 192.0.2.1 2\n";
    let expected = [
        "10.0.0.0/8 192.0.2.1 0 - 1",
        "10.0.0.0/8 - 1 - 300",
        "11.0.0.0/8 192.0.2.1 0 - 40000",
        "11.0.0.0/8 - 1 - 2",
        "12.0.0.0/8 nowhere",
        "13.0.0.0/8 nowhere",
        "14.0.0.0/8 fe80::1 0 - 1",
        "15.0.0.0/8 192.0.2.9 3 - 1",
        "2001:db8::/32 - 2 - 1",
        "2001:db8:1::/48 192.0.2.1 2 - 1",
        "0 skipped",
    ];
    assert_eq!(lines(text), expected);
}

#[test]
fn ip_route_v4() {
    let text = "default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.5 metric 100
default via 192.0.2.9 dev wlan0 proto dhcp metric 600
10.0.0.0/8 proto bgp metric 20
\tnexthop via 192.0.2.2 dev eth0 weight 1
\tnexthop via inet6 fe80::7 dev eth1 weight 3 onlink
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.5 linkdown
blackhole 10.66.0.0/16 proto static
unreachable 10.67.0.0/16
unicast 10.68.0.0/16 via 192.0.2.3 dev eth0 table main
local 192.0.2.5 dev eth0 table local proto kernel scope host src 192.0.2.5
10.69.0.0/16 via 192.0.2.3 dev eth0 table 100
10.70.0.0/16 nhid 12 via 192.0.2.3 dev eth0
10.71.0.0/16 tos lowdelay via 192.0.2.3 dev eth0
";
    let expected = [
        "0.0.0.0/0 192.0.2.1 - eth0 1",
        "10.0.0.0/8 192.0.2.2 - eth0 1",
        "10.0.0.0/8 fe80::7 - eth1 3",
        "192.0.2.0/24 - - eth0 1",
        "10.66.0.0/16 nowhere",
        "10.67.0.0/16 nowhere",
        "10.68.0.0/16 192.0.2.3 - eth0 1",
        "10.70.0.0/16 192.0.2.3 - eth0 1",
        "2 skipped",
    ];
    let read = list(text);
    assert_eq!(said(&read), expected);
    let wrong = [
        "line 11: a route of table '100'",
        "line 13: routes by type of service (tos lowdelay) are not supported",
    ];
    assert_eq!(faults(&read.faults), wrong);
    // The same file for one who asks for that table.
    let other = parse_table(text.as_bytes(), "100");
    assert_eq!(said(&other)[..1], ["10.69.0.0/16 192.0.2.3 - eth0 1"]);
}

/// In IPv6, a default route without a gateway follows others; several next hops may be several routes; a better metric
/// may come later.
#[test]
fn ip_route_v6() {
    let text = "2001:db8:1::/64 dev eth0 proto kernel metric 256 pref medium
2001:db8:2::/48 via fe80::1 dev eth0 metric 1024 pref medium
2001:db8:2::/48 via fe80::2 dev eth1 metric 1024 pref medium
2001:db8:3::/48 via fe80::1 dev eth0 metric 1024
2001:db8:3::/48 via fe80::2 dev eth1 metric 512
anycast fe80:: dev eth0 table local
multicast ff00::/8 dev eth0 table local metric 256
default dev wg0 metric 1024
";
    let expected = [
        "2001:db8:1::/64 - - eth0 1",
        "2001:db8:2::/48 fe80::1 - eth0 1",
        "2001:db8:2::/48 fe80::2 - eth1 1",
        "2001:db8:3::/48 fe80::2 - eth1 1",
        "::/0 - - wg0 1",
        "3 skipped",
    ];
    assert_eq!(lines(text), expected);
    let one_line = "10.0.0.0/8 proto bgp metric 20 \\\tnexthop via 1.1.1.1 dev a weight 2 \\\tnexthop via 2.2.2.2 dev b weight 1";
    assert_eq!(lines(one_line), ["10.0.0.0/8 1.1.1.1 - a 2", "10.0.0.0/8 2.2.2.2 - b 1", "0 skipped"]);
    assert_eq!(lines("default via fe80::1 dev eth0"), ["::/0 fe80::1 - eth0 1", "0 skipped"]);
    assert_eq!(lines("default via inet6 fe80::1 dev eth0"), ["0.0.0.0/0 fe80::1 - eth0 1", "0 skipped"]);
}

/// The family of a default route, by whatever tells it: the gateway, also of a later line, the preference, the source, the routes before.
#[test]
fn default_routes_are_of_the_right_family() {
    for (text, prefix) in [
        (
            "2001:db8::/32 dev a\ndefault proto static\n\tnexthop via 1.1.1.1 dev a weight 1\n\tnexthop via 2.2.2.2 dev b weight 1",
            "0.0.0.0/0",
        ),
        (
            "10.0.0.0/8 dev a\ndefault proto static metric 1024 pref medium\n\tnexthop via fe80::1 dev a weight 1\n\tnexthop via fe80::2 dev b weight 1",
            "::/0",
        ),
        ("default proto static\n\tnexthop via fe80::1 dev a weight 1", "::/0"),
        ("default proto static\n\tnexthop via inet6 fe80::1 dev a weight 1", "0.0.0.0/0"),
        ("default via inet 1.1.1.1 dev a", "::/0"),
        ("default dev wg0 metric 1024 pref medium", "::/0"),
        ("2001:db8::/32 dev a\ndefault dev ppp0 scope link src 192.0.2.1", "0.0.0.0/0"),
        ("2001:db8::/32 dev a\nunreachable default dev lo metric 4294967295 error -101", "::/0"),
        ("default dev ppp0 scope link", "0.0.0.0/0"),
    ] {
        let read = lines(text);
        assert!(read.iter().any(|line| line.starts_with(prefix)), "{text}: {read:?}");
    }
}

/// Of several IPv4 routes for a prefix, and of those of IPv6 that do not share packets, the kernel takes the first of the best.
#[test]
fn one_of_several_routes_counts() {
    let text = "10.31.0.0/16 via 10.0.1.1 dev eth1 metric 50
10.31.0.0/16 via 10.0.0.7 dev eth0 metric 50
10.31.0.0/16 via 10.0.0.1 dev eth0 metric 100
fe80::/64 dev eth1 proto kernel metric 256 pref medium
fe80::/64 dev eth0 proto kernel metric 256 pref medium
default via fe80::1 dev eth0 proto ra metric 1024 expires 1798sec pref medium
default via fe80::2 dev eth0 proto ra metric 1024 expires 1798sec pref high
default via fe80::3 dev eth0 proto ra metric 1024 expires 1798sec pref low
2001:db8::/32 nhid 8 via fe80::1 dev eth0 metric 1024 pref medium
2001:db8::/32 nhid 9 via fe80::2 dev eth0 metric 1024 pref medium
";
    // In one line, too.
    let one_line = "2001:db8::/32 nhid 70 metric 1024 pref medium\\\tnexthop via fe80::1 dev a weight 2 \\\tnexthop via fe80::2 dev b weight 9 \n\
        2001:db8::/32 metric 1024 pref high\\\tnexthop via fe80::3 dev a weight 2 \\\tnexthop via fe80::4 dev b weight 9 \n";
    let better = ["2001:db8::/32 fe80::3 - a 2", "2001:db8::/32 fe80::4 - b 9", "1 skipped"];
    assert_eq!(lines(one_line), better);
    let expected = [
        "10.31.0.0/16 10.0.1.1 - eth1 1",
        "fe80::/64 - - eth1 1",
        "::/0 fe80::2 - eth0 1",
        "2001:db8::/32 fe80::1 - eth0 1",
        "6 skipped",
    ];
    assert_eq!(lines(text), expected);
}

/// Every word that `ip -d route` prints about a route that can be used, and what `ip -o` makes of lines.
#[test]
fn details_do_not_change_where_a_route_leads() {
    let text = "unicast default via 10.0.0.1 dev eth0 proto boot scope global 
unicast 10.11.0.0/16 nhid 4 via 10.0.0.9 dev eth0 proto bgp scope global 
\tnh_info id 4 via 10.0.0.9 dev eth0 scope link proto unspec 
unicast 10.12.0.0/16 nhid 6 proto zebra scope global 
\tnh_info id 6 group 4,3/5,250 scope global proto unspec 
\tnexthop via 10.0.0.9 dev eth0 weight 3 
\tnexthop via 10.0.1.9 dev eth1 weight 250 
blackhole 10.13.0.0/16 nhid 7 dev lo proto boot scope global 
\tnh_info id 7 scope global blackhole proto unspec 
unicast 10.14.0.0/16 nhid 8 via inet6 fe80::1 dev eth0 proto boot scope global 
\tnh_info id 8 via fe80::1 dev eth0 scope link proto unspec 
unicast 10.15.0.0/16 nhid 9 proto boot scope global 
\tnh_info id 9 group 4/5 type resilient buckets 32 idle_timer 120 unbalanced_timer 0 unbalanced_time 0 scope global proto unspec \\\tnexthop via 10.0.0.9 dev eth0 weight 300 \\\tnexthop via 10.0.1.9 dev eth1 weight 65536 
unicast 10.24.0.0/16 via 10.0.0.1 dev eth0 proto boot scope global realms 1/2 mtu lock 1400 window 1000 rtt 300ms rttvar 10ms ssthresh 4 cwnd lock 10 advmss 1200 reordering 4 hoplimit 9 initcwnd 8 features ecn 0x10 rto_min lock 5ms initrwnd 20 quickack 1 congctl lock cubic fastopen_no_cookie 1 metric 18 lock 7
unicast 10.25.0.0/16 via 10.0.7.1 dev eth0 proto 196 scope 7 src 10.0.0.2 metric 30 onlink pervasive offload trap notify linkdown rt_offload rt_trap rt_offload_failed mark 0x20 realm 7 uid 0
unicast 10.33.1.1 via 10.0.0.1 dev eth0 proto boot scope global ttl-propogate disabled
unicast 10.34.0.0/16 nhid 11 proto bgp scope global 
\tnh_info id 11 via 10.0.0.3 dev eth0 scope link proto zebra 
unicast 10.35.0.0/16 via 10.0.0.1 dev eth0 preference 5 dsfield 0 protocol static realm cosmos
unicast 10.36.0.0/16 via 10.0.0.1 dev a#b metric 5 # a comment
    cache expires 300sec users 2 age 3sec ipid 0x0001 ts 0x1 tsage 2sec
unicast 2001:db8:3::/48 via 2001:db8::1 dev eth0 proto boot scope global metric 1024 expires 299sec pref high
unreachable 2001:db8:5::/48 dev lo proto boot scope global metric 1024 error 4294967183 pref medium
";
    let expected = [
        "0.0.0.0/0 10.0.0.1 - eth0 1",
        "10.11.0.0/16 10.0.0.9 - eth0 1",
        "10.12.0.0/16 10.0.0.9 - eth0 3",
        "10.12.0.0/16 10.0.1.9 - eth1 250",
        "10.13.0.0/16 nowhere",
        "10.14.0.0/16 fe80::1 - eth0 1",
        "10.15.0.0/16 10.0.0.9 - eth0 300",
        "10.15.0.0/16 10.0.1.9 - eth1 65536",
        "10.24.0.0/16 10.0.0.1 - eth0 1",
        "10.25.0.0/16 10.0.7.1 - eth0 1",
        "10.33.1.1/32 10.0.0.1 - eth0 1",
        "10.34.0.0/16 10.0.0.3 - eth0 1",
        "10.35.0.0/16 10.0.0.1 - eth0 1",
        "10.36.0.0/16 10.0.0.1 - a#b 1",
        "2001:db8:3::/48 2001:db8::1 - eth0 1",
        "2001:db8:5::/48 nowhere",
        "0 skipped",
    ];
    assert_eq!(lines(text), expected);
    // A metric behind the number of a path metric is none of the route's.
    let two = "10.0.0.0/8 via 1.1.1.1 dev a metric 20 metric 18 7\n10.0.0.0/8 via 2.2.2.2 dev a metric 19\n";
    assert_eq!(lines(two), ["10.0.0.0/8 2.2.2.2 - a 1", "1 skipped"]);
}

/// `ip route` may have nothing to say of a route but its next hops.
#[test]
fn a_prefix_may_have_next_hops_behind_it() {
    let hops = "\tnexthop via 1.1.1.1 dev a weight 1 \n\tnexthop dev b weight 2 \n";
    for space in ["", " "] {
        let text = format!(
            "9.0.0.0/8{space}\n10.0.0.0/8{space}\n{hops}1.2.3.4{space}\n{hops}11.0.0.0/8\n2001:db8::/32{space}\n\tnexthop via fe80::1 dev a"
        );
        let expected = [
            "9.0.0.0/8 - - - 1",
            "10.0.0.0/8 1.1.1.1 - a 1",
            "10.0.0.0/8 - - b 2",
            "1.2.3.4/32 1.1.1.1 - a 1",
            "1.2.3.4/32 - - b 2",
            "11.0.0.0/8 - - - 1",
            "2001:db8::/32 fe80::1 - a 1",
            "0 skipped",
        ];
        assert_eq!(lines(&text), expected);
    }
    let read = list(&format!("10.0.0.0/8 1\n{hops}"));
    assert_eq!((said(&read).len(), read.faults.count()), (2, 2));
}

/// What cannot be followed is left out with all its lines, and named; the routes beside it stay as they are.
#[test]
fn what_would_lead_astray_is_refused() {
    let text = "10.1.0.0/16 via 10.0.0.1 dev eth0
10.17.0.0/16 tos 0x10 via 10.0.0.1 dev eth0 
throw 10.18.0.0/16 
10.22.0.0/16  encap mpls  100/200 ttl 5 via 10.0.0.1 dev eth0 
10.23.0.0/16  encap ip id 100 src 10.0.0.2 dst 10.9.9.9 ttl 9 tos 4 via 10.0.0.1 dev eth0 
10.26.0.0/16 via 10.0.0.1 dev eth0 table 100 
10.27.0.0/16 via 10.0.0.1 dev eth0 table local
10.28.0.0/16 via 10.0.0.1 dev eth0 dead linkdown
10.29.0.0/16 proto bgp
\tnexthop via 10.0.0.1 dev eth0 weight 1 dead linkdown
\tnexthop via 10.0.1.1 dev eth1 weight 5
10.32.0.0/16 
\tnexthop via 10.0.0.1 dev eth0 weight 1 
\tnexthop encap mpls  7 via 10.0.0.1 dev eth0 weight 1 
\tnexthop via 10.0.0.2 dev eth0 weight 1 
nat 10.34.0.0/16 via 10.0.0.1
10.35.0.0/16 nhid 12 proto bgp
10.36.0.0/16 as to 10.0.0.7 via 10.0.0.1 dev eth0
10.37.0.0/16 via link 00:00:5e:00:53:01 dev eth0
10.38.0.0/16 via 10.0.0.1 dev eth0 vrf red wormhole 3
Deleted 10.39.0.0/16 via 10.0.0.1 dev eth0
\tnexthop via 10.0.0.2 dev eth0 weight 1 
10.40.0.0/40 proto bgp
\tnexthop via 10.0.0.3 dev eth0 weight 1 
2001:db8:4::/48 from 2001:db8::/64 via 2001:db8::1 dev eth0 metric 1024 pref medium
10.2.0.0/16 via 10.0.0.2 dev eth0
";
    let expected = [
        "10.1.0.0/16 10.0.0.1 - eth0 1",
        "10.18.0.0/16 nowhere",
        "10.29.0.0/16 10.0.1.1 - eth1 1",
        "10.2.0.0/16 10.0.0.2 - eth0 1",
        "0 skipped",
    ];
    let read = list(text);
    assert_eq!(said(&read), expected);
    let wrong = [
        "line 2: routes by type of service (tos 0x10) are not supported",
        "line 3: a throw route: its packets are dropped here, as no other table follows",
        "line 4: encapsulation (mpls) is not supported",
        "line 5: encapsulation (ip) is not supported",
        "line 6: a route of table '100'",
        "line 7: a route of table 'local'",
        "line 8: all next hops are dead",
        "line 14: encapsulation (mpls) is not supported",
        "8 more could not be used",
    ];
    assert_eq!(faults(&read.faults), wrong);
    let behind = text.lines().skip(15).collect::<Vec<_>>().join("\n");
    let wrong = [
        "line 1: routes of type 'nat' are not supported",
        "line 2: the next hops of nhid 12 are not shown; set the sysctl net.ipv4.nexthop_compat_mode to 1",
        "line 3: translation (to 10.0.0.7) is not supported",
        "line 4: gateways of family 'link' are not supported",
        "line 5: unknown word 'wormhole'",
        "line 6: news of a removed route; expected a table of routes",
        "line 8: bad prefix '10.40.0.0/40': prefix length 40 exceeds 32; write ADDR/LEN, as in 192.0.2.0/24",
        "line 10: routes by source (from 2001:db8::/64) are not supported",
    ];
    assert_eq!(faults(&list(&behind).faults), wrong);
}

#[test]
fn a_bad_line_is_named() {
    let cases = [
        (
            "1.0.0.0/8\n10.0.0.0/33\n",
            "line 2: bad prefix '10.0.0.0/33': prefix length 33 exceeds 32; write ADDR/LEN, as in 192.0.2.0/24",
        ),
        ("1.0.0.0/8 x", "line 1: bad port 'x': expected a number"),
        ("1.0.0.0/8 +1", "line 1: bad port '+1': expected a number"),
        ("1.0.0.0/8 x 1", "line 1: bad gateway 'x': expected an address, or '-'"),
        ("1.0.0.0/8 - 1 2", "line 1: unexpected '2' after the port; a line is 'PREFIX [[GATEWAY] PORT]'"),
        ("1.0.0.0/8 - 1 weight 0", "line 1: bad or missing value after 'weight'"),
        (
            "1.0.0.0/8 - 1 weight 1 x",
            "line 1: unexpected 'x' after the port; a line is 'PREFIX [[GATEWAY] PORT]'",
        ),
        (
            "1.0.0.0/8 nexthop - 1 2 3",
            "line 1: unexpected '3' after the port; a line is 'PREFIX [[GATEWAY] PORT]'",
        ),
        ("1.0.0.0/8 nexthop - 1 nexthop", "line 1: bad or missing value after 'nexthop'"),
        ("1.0.0.0/8 via", "line 1: bad or missing value after 'via'"),
        ("1.0.0.0/8 dev", "line 1: bad or missing value after 'dev'"),
        ("default via x", "line 1: bad gateway 'x': expected an address, or '-'"),
        ("unicast", "line 1: bad prefix '': not an address; write ADDR/LEN, as in 192.0.2.0/24"),
        (
            "\nnexthop via 1.2.3.4",
            "line 2: a next hop without a route before it; is the file cut at its beginning?",
        ),
        (
            "10.0.0.0/8 proto bgp\n nexthop via 1.2.3.4 weight 0",
            "line 2: bad or missing value after 'weight'",
        ),
        ("10.0.0.0/8 proto bgp\n\tnexthop weight 2", "line 2: bad or missing value after 'nexthop'"),
    ];
    for (text, message) in cases {
        let error = parse(text.as_bytes()).and_then(List::strict).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
    let error = parse(b"\n\xff\xfe").unwrap_err().to_string();
    assert!(error.starts_with("line 2: not a line of text; expected a list of prefixes"), "{error}");
    assert!(parse(&[b'1'; 5000]).is_err());
}

/// A line that cannot be read may be a next hop of the route before, or a route whose next hops follow: neither becomes another route.
#[test]
fn a_bad_line_takes_what_belongs_to_it_along() {
    let hop = "\tnexthop via 10.0.0.1 dev a weight 1\n";
    let cut =
        [&b"10.0.0.0/8 proto bgp\n"[..], hop.as_bytes(), b"\tnexthop via \xff\n", hop.as_bytes()].concat();
    let read = parse_table(&[&cut[..], b"11.0.0.0/8 via 10.0.0.1\n"].concat(), MAIN_TABLE);
    assert_eq!(
        (said(&read)[0].as_str(), read.len(), read.faults.count()),
        ("11.0.0.0/8 10.0.0.1 - - 1", 1, 1)
    );
    let read = list(&format!("10.0.0.0/8 proto bgp\n{hop}10.1.0.0/99 proto bgp\n{hop}{hop}"));
    assert_eq!(said(&read), ["10.0.0.0/8 10.0.0.1 - a 1", "0 skipped"]);
    let read = list(&format!("10.0.0.0/8 proto bgp\n{hop}10.1.0.0/16 x\n{hop}{hop}"));
    assert_eq!((said(&read).len(), read.faults.count()), (2, 1));
}

/// Text and JSON of one table say the same.
#[test]
fn json_says_what_text_says() {
    let text = "default via 10.0.0.1 dev eth0 
10.12.0.0/16 nhid 6 proto zebra 
\tnexthop via 10.0.0.9 dev eth0 weight 3 
\tnexthop via inet6 fe80::9 dev eth1 weight 300 
blackhole 10.13.0.0/16 nhid 7 dev lo 
10.14.0.0/16 nhid 8 via inet6 fe80::1 dev eth0 
10.17.0.0/16 tos 0x10 via 10.0.0.1 dev eth0 
throw 10.18.0.0/16 
10.23.0.0/16  encap ip id 100 src 10.0.0.2 dst 10.9.9.9 ttl 9 tos 4 via 10.0.0.1 dev eth0 
10.24.0.0/16 via 10.0.0.1 dev eth0 realms 1/2 mtu lock 1400 features ecn 
10.26.0.0/16 via 10.0.0.1 dev eth0 table 100 
10.31.0.0/16 via 10.0.1.1 dev eth1 metric 50 
10.31.0.0/16 via 10.0.0.1 dev eth0 metric 40 dead linkdown 
10.33.0.0/16 nhid 9 proto bgp
local 10.0.0.2 dev eth0 table local proto kernel scope host src 10.0.0.2 
2001:db8:4::/48 from 2001:db8::/64 via 2001:db8::1 dev eth0 metric 1024 pref medium
default via fe80::1 dev eth0 proto ra metric 1024 expires 1798sec pref medium
default via fe80::2 dev eth0 proto ra metric 1024 expires 1798sec pref high
";
    let json = r#"[{"dst":"default","gateway":"10.0.0.1","dev":"eth0","flags":[]},
        {"dst":"10.12.0.0/16","nhid":6,"protocol":"zebra","flags":[],"nexthops":[
            {"gateway":"10.0.0.9","dev":"eth0","weight":3,"flags":[]},
            {"via":{"family":"inet6","host":"fe80::9"},"dev":"eth1","weight":300,"flags":[]}]},
        {"type":"blackhole","dst":"10.13.0.0/16","nhid":7,"dev":"lo","flags":[]},{},
        {"dst":"10.14.0.0/16","nhid":8,"via":{"family":"inet6","host":"fe80::1"},"dev":"eth0","flags":[],
            "nh_info":{"id":8,"gateway":"fe80::1","dev":"eth0","scope":"link","protocol":"unspec","flags":[]}},
        {"dst":"10.17.0.0/16","tos":"0x10","gateway":"10.0.0.1","dev":"eth0","flags":[]},
        {"type":"throw","dst":"10.18.0.0/16","flags":[]},
        {"dst":"10.23.0.0/16","encap":"ip","id":100,"src":"10.0.0.2","dst":"10.9.9.9","ttl":9,"tos":4,"gateway":"10.0.0.1","dev":"eth0","flags":[]},
        {"dst":"10.24.0.0/16","gateway":"10.0.0.1","dev":"eth0","flags":[],"flow":{"from":"1","to":"2"},"metrics":[{"mtu":1400,"ecn":null}]},
        {"dst":"10.26.0.0/16","gateway":"10.0.0.1","dev":"eth0","table":"100","flags":[]},
        {"dst":"10.31.0.0/16","gateway":"10.0.1.1","dev":"eth1","metric":50,"flags":[]},
        {"dst":"10.31.0.0/16","gateway":"10.0.0.1","dev":"eth0","metric":40,"flags":["dead","linkdown"]},
        {"dst":"10.33.0.0/16","nhid":9,"protocol":"bgp","flags":[]},
        {"type":"local","dst":"10.0.0.2","dev":"eth0","table":"local","protocol":"kernel","scope":"host","prefsrc":"10.0.0.2","flags":[]}]
        [{"dst":"2001:db8:4::/48","from":"2001:db8::/64","gateway":"2001:db8::1","dev":"eth0","metric":1024,"flags":[],"pref":"medium"},
        {"dst":"default","gateway":"fe80::1","dev":"eth0","protocol":"ra","metric":1024,"flags":[],"expires":1798,"pref":"medium"},
        {"dst":"default","gateway":"fe80::2","dev":"eth0","protocol":"ra","metric":1024,"flags":[],"expires":1798,"pref":"high"}]"#;
    let (text, json) = (list(text), parse_json(json.as_bytes(), MAIN_TABLE));
    let expected = [
        "0.0.0.0/0 10.0.0.1 - eth0 1",
        "10.12.0.0/16 10.0.0.9 - eth0 3",
        "10.12.0.0/16 fe80::9 - eth1 300",
        "10.13.0.0/16 nowhere",
        "10.14.0.0/16 fe80::1 - eth0 1",
        "10.18.0.0/16 nowhere",
        "10.24.0.0/16 10.0.0.1 - eth0 1",
        "10.31.0.0/16 10.0.1.1 - eth1 1",
        "::/0 fe80::2 - eth0 1",
        "2 skipped",
    ];
    assert_eq!(said(&text), expected);
    assert_eq!(said(&json), expected);
    let wrong = [
        (6, "routes by type of service (tos 0x10) are not supported"),
        (7, "a throw route: its packets are dropped here, as no other table follows"),
        (8, "encapsulation (ip) is not supported"),
        (10, "a route of table '100'"),
        (12, "all next hops are dead"),
        (13, "the next hops of nhid 9 are not shown; set the sysctl net.ipv4.nexthop_compat_mode to 1"),
        (15, "routes by source (from 2001:db8::/64) are not supported"),
    ];
    assert_eq!(faults(&json.faults), wrong.map(|(number, error)| format!("route {number}: {error}")));
    let without_place = |list: &List| {
        faults(&list.faults)
            .iter()
            .filter_map(|line| Some(line.split_once(": ")?.1.to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(without_place(&text), without_place(&json));
}

#[test]
fn json_that_is_wrong_is_named() {
    let route = r#"{"dst":"10.0.0.0/8","gateway":"10.0.0.1","dev":"eth0","flags":[]}"#;
    for (wrong, message) in [
        (r#"{"dst":"10.0.0.0/40"}"#, "route 2: bad prefix '10.0.0.0/40'"),
        (r#"{"dst":"10.1.0.0/16","gateway":"x"}"#, "route 2: bad gateway 'x'"),
        (r#"{"dst":"10.1.0.0/16","dev":3}"#, "route 2: bad or missing value after 'dev'"),
        (r#"{"dst":"10.1.0.0/16","wormhole":3}"#, "route 2: unknown word 'wormhole'"),
        (r#"{"gateway":"10.0.0.1"}"#, "route 2: bad or missing value after 'dst'"),
        (
            r#"{"dst":"10.1.0.0/16","nexthops":[{"weight":1}]}"#,
            "route 2: bad or missing value after 'nexthops'",
        ),
        (
            r#"{"dst":"10.1.0.0/16","nexthops":[{"encap":"mpls","dst":"100","dev":"a"}]}"#,
            "route 2: encapsulation (mpls)",
        ),
        (r#"{"deleted":true,"dst":"10.1.0.0/16","dev":"a"}"#, "route 2: news of a removed route"),
        ("7", "line 1: not the JSON of 'ip -j route'"),
        (r#"{"dst":"#, "line 1: not the JSON of 'ip -j route'"),
    ] {
        let list = parse_any(format!("[{route},{wrong}]").as_bytes(), MAIN_TABLE).unwrap();
        assert_eq!(said(&list)[..1], ["10.0.0.0/8 10.0.0.1 - eth0 1"]);
        let found = faults(&list.faults);
        assert!(found.len() == 1 && found[0].starts_with(message), "{found:?}");
    }
    assert!(parse_any(b"[", MAIN_TABLE).is_err());
    assert!(parse_any(b" [] ", MAIN_TABLE).is_ok_and(|list| list.is_empty()));
}
