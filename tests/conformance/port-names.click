// IPNameInfo is accepted beside PortInfo: names of protocols and well-known ports are always there. Ports of other protocols are passed over.
IPNameInfo(); PortInfo(game 27015/17 play # udp, game 1/sctp, # nothing);
InfiniteSource(DATA a, LIMIT 1) -> UDPIPEncap(1.0.0.1, play, 2.0.0.2, domain) -> c :: IPClassifier(udp src port game && dst port dns, -);
c[0] -> IPPrint(named, TIMESTAMP false) -> Counter(COUNT_CALL 1 stop) -> Discard; c[1] -> Discard;
//= named: 1.0.0.1.27015 > 2.0.0.2.53: udp 9
