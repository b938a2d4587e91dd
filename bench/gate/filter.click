// A filter whose last rule decides.
define($LIMIT 1);
InfiniteSource(DATA \<4500002e 00000000 401155af 0a000909 0a000808 00010002 001a0000 000000000000000000000000000000000000>,
    BURST 32, LIMIT $LIMIT, STOP true)
  -> MarkIPHeader
  -> IPFilter(deny src 10.1.0.0/16, allow dst port 80, allow dst 10.2.0.0/16 && tcp, deny icmp type 5, allow udp && dst port 2, deny all)
  -> Discard;
