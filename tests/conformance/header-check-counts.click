// Checks count right packets, too, and those of TCP and UDP may leave checksums alone.
//! workers 1
FromIPSummaryDump($DIR/packets, STOP false, CHECKSUM true) -> c :: CheckIPHeader -> i :: IPClassifier(tcp, udp);
//< packets !data ip_src ip_dst ip_proto sport dport ip_len
//< packets 1.0.0.1 2.0.0.2 T 1 2 60
//< packets 1.0.0.1 2.0.0.2 U 1 2 60
i[0] -> t :: CheckTCPHeader -> StoreData(40, \<ff>) -> t2 :: CheckTCPHeader(CHECKSUM false) -> t3 :: CheckTCPHeader -> Discard;
i[1] -> u :: CheckUDPHeader -> StoreData(45, \<ff>) -> u2 :: CheckUDPHeader(CHECKSUM false) -> u3 :: CheckUDPHeader -> Discard;
InfiniteSource(DATA x, LIMIT 3) -> UDPIP6Encap(2001:db8::1, 5, 2001:db8::9, 6) -> c6 :: CheckIP6Header -> Discard;
Script(wait 1, print $(c.count) $(c.drops) $(c6.count) $(c6.drops), print $(t.count) $(t2.count) $(t3.count) $(t3.drops),
  print $(u.count) $(u2.count) $(u3.count) $(u3.drops), stop);
//= t3 :: CheckTCPHeader: TCP header check failed: bad TCP checksum
//= UDP header check failed: bad UDP checksum
//= 2 0 3 0
//= 1 1 0 1
//= 1 1 0 1
