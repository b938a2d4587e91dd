// Tunnels by number and by annotation; a header with options, and ones that are cut off.
InfiniteSource(DATA abc, LIMIT 1) -> GTPEncap(0x10203) -> Print(in) -> GTPDecap -> GTPEncap(TEID 0) -> Print(again) -> Discard;
InfiniteSource(DATA \<32ff0004 00000007 12345600 61>, LIMIT 1) -> d :: GTPDecap -> Print(options) -> Discard;
InfiniteSource(DATA \<32ff0004 00000007 123456>, LIMIT 1) -> d;
InfiniteSource(DATA \<30ff0004 000000>, LIMIT 1) -> d;
Script(wait 1, stop);
//= in:   11 | 30ff0003 00010203 616263
//= again:   11 | 30ff0003 00010203 616263
//= options:    1 | 61
//? d.drop_reasons
//= 2	no GTP header
//! then
// A tunnel's other direction is known once a ping was answered; what comes back before is dropped, and so is what belongs to no tunnel. A header with
// options is as long as its flags say, and pings have it, too.
user :: InfiniteSource(DATA hi, LIMIT 1, ACTIVE false) -> UDPIPEncap(10.1.1.1, 5000, 8.8.8.8, 53) -> GTPEncap(0x11) -> UDPIPEncap(1.0.0.1, 2152, 2.0.0.2, 2153) -> t :: GTPTable(9.9.9.9);
options :: InfiniteSource(DATA abcd, LIMIT 1, ACTIVE false) -> UDPIPEncap(10.1.1.2, 5000, 8.8.8.8, 53) -> Resize(12) -> StoreData(0, \<32ff0024 00000012 12345600>) -> UDPIPEncap(1.0.0.1, 2152, 2.0.0.2, 2153) -> t;
InfiniteSource(DATA x, LIMIT 1) -> UDPIPEncap(1.0.0.1, 2152, 2.0.0.2, 2153) -> t;
t[0] -> CheckIPHeader -> CheckUDPHeader -> IPPrint(out, TIMESTAMP false) -> Discard;
t[1] -> CheckIPHeader -> IPPrint(ping, TIMESTAMP false, TTL true, LENGTH true) -> Strip(28) -> Print(header, 12) -> g :: GTPDecap -> CheckIPHeader -> CheckICMPHeader
  -> Print(inner, 0) -> pings :: Counter -> q :: Queue -> u :: Unqueue(ACTIVE false)
  -> ICMPPingResponder -> GTPEncap(0x22) -> UDPIPEncap(2.0.0.2, 2154, 1.0.0.1, 2155) -> [1]t;
InfiniteSource(DATA x, LIMIT 1) -> UDPIPEncap(2.0.0.2, 2152, 1.0.0.1, 2153) -> [1]t;
back :: InfiniteSource(DATA hello, LIMIT 1, ACTIVE false) -> UDPIPEncap(8.8.8.8, 53, 10.1.1.1, 5000) -> l :: GTPLookup(t) -> CheckIPHeader -> CheckUDPHeader
  -> IPPrint(back, TIMESTAMP false, TTL true, LENGTH true) -> Strip(28) -> Print(header, 8) -> GTPDecap -> CheckIPHeader -> CheckUDPHeader -> IPPrint(user, TIMESTAMP false) -> Discard;
InfiniteSource(DATA hello, LIMIT 1) -> UDPIPEncap(8.8.8.8, 53, 10.1.1.9, 5000) -> l;
Script(write user.active true, wait 1, write back.active true, wait 1, print $(pings.count) $(t.tunnels), write u.active true, wait 1, print $(t.tunnels),
  write back.reset, wait 1, write user.reset, wait 1, print $(pings.count), write options.active true, wait 1, stop);
//= ping: ttl 250 length 96 1.0.0.1.2152 > 2.0.0.2.2153: udp 76
//= header:   68 | 30ff003c 00000011 4500003c
//= inner:   60
//= out: 10.1.1.1.5000 > 8.8.8.8.53: udp 10
//= 1 0
//= 1
//= back: ttl 250 length 69 2.0.0.2.2154 > 1.0.0.1.2155: udp 49
//= header:   41 | 30ff0021 00000022
//= user: 8.8.8.8.53 > 10.1.1.1.5000: udp 13
//= out: 10.1.1.1.5000 > 8.8.8.8.53: udp 10
//= 1
//= ping: ttl 250 length 100 1.0.0.1.2152 > 2.0.0.2.2153: udp 80
//= header:   72 | 32ff0040 00000012 12345600
//= inner:   60
//= out: 10.1.1.2.5000 > 8.8.8.8.53: udp 12
//? l.drop_reasons
//= 1	flow of no tunnel
//= 1	tunnel back not known yet
//? t.drop_reasons
//= 1	no GTP header
//= 1	no answer to a ping
