// Fields are set, and the checksum stays right.
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> SetIPDSCP(46) -> SetIPECN(ect2)
  -> MarkIPCE -> CheckIPHeader -> Print(ce, 2) -> GetIPAddress(12) -> StoreIPAddress(dst) -> CheckIPHeader
  -> DecIPTTL -> FixIPSrc(9.9.9.9) -> IPGWOptions(9.9.9.9) -> DropBroadcasts
  -> CheckIPHeader -> IPPrint(ip, TTL true, TIMESTAMP false) -> IPMirror -> IPPrint(mirror, TIMESTAMP false)
  -> Counter(COUNT_CALL 1 stop) -> Discard;
//= ce:   32 | 45bb
//= ip: ttl 249 1.0.0.1.1 > 1.0.0.1.2: udp 12
//= mirror: 1.0.0.1.2 > 1.0.0.1.1: udp 12
