// Headers are put in front of data, and taken off and put back.
InfiniteSource(DATA abcd, LIMIT 1) -> t :: Tee(4);
t[0] -> IPEncap(50, 1.0.0.1, 2.0.0.2) -> IPPrint(ip, TIMESTAMP false) -> Discard;
t[1] -> UDPIPEncap(1.0.0.1, 53, 2.0.0.2, 5000) -> CheckIPHeader -> CheckUDPHeader -> IPPrint(udp, TIMESTAMP false)
  -> StripTransportHeader -> Print(data) -> UnstripTransportHeader -> Strip(8) -> UnstripIPHeader -> StripIPHeader
  -> Print(same) -> Discard;
t[2] -> ICMPIPEncap(1.0.0.1, 2.0.0.2, 0, 0) -> CheckIPHeader -> CheckICMPHeader -> IPPrint(icmp, TIMESTAMP false) -> Discard;
t[3] -> ICMPPingEncap(1.0.0.1, 2.0.0.2) -> CheckIPHeader2 -> IPPrint(ping, TIMESTAMP false)
  -> ICMPPingResponder -> IPPrint(pong, TIMESTAMP false) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= ip: 1.0.0.1 > 2.0.0.2: ip-proto-50
//= udp: 1.0.0.1.53 > 2.0.0.2.5000: udp 12
//= data:    4 | 61626364
//= same:   12 | 00351388 000c2450 61626364
//= icmp: 1.0.0.1 > 2.0.0.2: icmp echo-reply (0, 1)
//= ping: 1.0.0.1 > 2.0.0.2: icmp echo (0, 1)
//= pong: 2.0.0.2 > 1.0.0.1: icmp echo-reply (0, 1)
