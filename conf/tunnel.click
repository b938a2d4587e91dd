// An IP-in-IP tunnel: packets between two sites travel inside packets between their gateways, and come out as they went in.
//
//   clique run conf/tunnel.click

FastUDPSource(0, 3, 60, 0:0:0:0:0:1, 10.0.1.1, 1000, 0:0:0:0:0:2, 10.0.2.1, 2000) -> Unqueue -> Strip(14) -> CheckIPHeader
  -> IPEncap(4, 192.0.2.1, 198.51.100.1)
  -> tunnel :: Counter
  -> CheckIPHeader -> IPClassifier(ip proto 4 and dst host 198.51.100.1)
  -> StripIPHeader -> CheckIPHeader
  -> IPPrint(out, TIMESTAMP false)
  -> Counter(COUNT_CALL 3 stop) -> Discard;

//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//? tunnel.byte_count
//= 198
