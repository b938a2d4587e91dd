// Fields of headers are changed, of frames with and without a VLAN tag, and checksums left alone.
elementclass Udp { TimedSource(0.5, DATA a, LIMIT 1) -> UDPIPEncap(10.0.0.1, 5000, 198.51.100.2, 53) -> output };
n :: NetworkHeaderFieldsRewriter(ETH_SRC 1:2:3:4:5:6, ETH_DST 2:2:2:2:2:2, IPV4_SRC 10.0.0.9, IPV4_DSCP 10, IPV4_ECN 1, IPV4_TTL 9, UDP_SRC 7, UDP_DST 8, TCP_DST 9);
Udp -> EtherEncap(0x0800, 0:0:0:0:0:1, 0:0:0:0:0:2) -> MarkIPHeader(14) -> n -> t :: Tee -> Strip(14) -> MarkIPHeader -> IPPrint(new, TIMESTAMP false, TTL true, TOS true) -> c :: CheckIPHeader -> Discard;
t[1] -> Print(MAXLENGTH 14) -> Discard; c[1] -> Print(checksum, MAXLENGTH 0) -> Discard;
Udp -> EtherVLANEncap(0x0800, 0:0:0:0:0:1, 0:0:0:0:0:2, 5) -> MarkIPHeader(18) -> m :: NetworkHeaderFieldsRewriter -> Print(tagged, MAXLENGTH 40) -> Discard;
Script(print $(n.eth_src) $(n.ipv4_dscp) $(n.udp_src) "<$(n.eth_type)>", write m.eth_type 0x0801, write m.udp_dst 0x909, wait 1, stop);
//= 01-02-03-04-05-06 10 7 <>
//= new: ttl 9 tos 41 10.0.0.9.7 > 198.51.100.2.8: udp 9
//= c: IP header check failed: bad IP checksum
//= checksum:   29
//=   43 | 02020202 02020102 03040506 0800
//= tagged:   47 | 00000000 00020000 00000001 81000005 08014500 001d0000 0000fa11 8c990a00 0001c633 64021388
//? n.tcp_dst
//= 9
//! workers 1
