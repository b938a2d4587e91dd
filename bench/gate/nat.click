// Packets of one known flow through a translator.
define($LIMIT 1);
InfiniteSource(DATA \<4500002e 00000000 401155af 0a000909 0a000808 00010002 001a0000 000000000000000000000000000000000000>,
    BURST 32, LIMIT $LIMIT, STOP true)
  -> CheckIPHeader(CHECKSUM false) -> rw :: IPRewriter(pattern 192.0.2.1 1024-65535 - - 0 1, drop) -> Discard;
Idle -> [1]rw; rw[1] -> Discard;
