// Identifiers and sequence numbers are in network order; ICMPSendPings is ICMPPingSource.
InfiniteSource(DATA x, LIMIT 2) -> ICMPPingEncap(1.0.0.1, 2.0.0.2, IDENTIFIER 258) -> IPPrint(TIMESTAMP false) -> Discard;
TimedSource(1, x, LIMIT 1) -> ICMPIPEncap(1.0.0.1, 2.0.0.2, echo-reply, IDENTIFIER 258) -> IPPrint(TIMESTAMP false) -> Discard;
ICMPSendPings(1.0.0.1, 2.0.0.2, LIMIT 1, INTERVAL 2, STOP true) -> Counter -> Discard;
//! workers 1
//= 1.0.0.1 > 2.0.0.2: icmp echo (258, 1)
//= 1.0.0.1 > 2.0.0.2: icmp echo (258, 2)
//= 1.0.0.1 > 2.0.0.2: icmp echo-reply (258, 1)
