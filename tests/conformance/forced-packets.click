// Any bytes become packets of IP, TCP, UDP and ICMP. What is too short is reported.
//! workers 1
elementclass Show { $label | input -> CheckIPHeader -> IPPrint($label, TIMESTAMP false) -> Discard };
InfiniteSource(DATA \<05ffffff ffffffff 4006ffff 0a000001 0a000002 04d20050 00000001 00000000 50000200 ffffffff 0102>, LIMIT 1)
  -> ForceIP -> ForceTCP(22, FLAGS 2) -> CheckTCPHeader -> Show(tcp);
Script(wait 0.1, write u.active true, wait 0.1, write i.active true, wait 0.1, write s.active true, wait 0.1, stop);
u :: InfiniteSource(DATA \<05ffffff ffffffff 4011ffff 0a000001 0a000002 04d20050 00000000 0102>, LIMIT 1, ACTIVE false)
  -> ForceIP -> ForceUDP(domain) -> CheckUDPHeader -> Show(udp);
i :: InfiniteSource(DATA \<05ffffff ffffffff 4001ffff 0a000001 0a000002 04d20050 00010002 0102>, LIMIT 1, ACTIVE false)
  -> ForceIP -> ForceICMP(echo, 0) -> CheckICMPHeader -> Show(icmp);
s :: InfiniteSource(DATA \<05ffffff ffffffff 4001ffff 0a000001 0a000002 04d200>, LIMIT 1, ACTIVE false)
  -> ForceIP -> t :: Tee(3); t[0] -> ForceTCP -> Discard; t[1] -> ForceUDP -> Discard; t[2] -> ForceICMP -> Discard;
//= tcp: 10.0.0.1.1234 > 10.0.0.2.22: S 1:4(3,42,42) win 512
//= udp: 10.0.0.1.1234 > 10.0.0.2.53: udp 10
//= icmp: 10.0.0.1 > 10.0.0.2: icmp echo (1, 2)
//= ForceTCP: bad lengths
//= ForceUDP: bad lengths
//= ForceICMP: bad lengths
