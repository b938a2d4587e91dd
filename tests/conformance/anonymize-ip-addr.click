// What keeps all its leading ones, or its first byte, does.
InfiniteSource(DATA \<4500001c 00010000 40110000 00000000 ffffffff 13880035 00080000>, LIMIT 1)
  -> SetIPChecksum -> MarkIPHeader -> a :: AnonymizeIPAddr(PRESERVE_8 10 18, SEED false)
  -> IPPrint(same, TIMESTAMP false) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= same: 0.0.0.0.5000 > 255.255.255.255.53: udp 8
