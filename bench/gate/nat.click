// Packets of a known flow that leave a private network by a gateway, as in conf/nat.click.
define($LIMIT 1000);

// UDP from 10.0.0.10 to 198.51.100.7.
src :: InfiniteSource(DATA \<
  4500002e 00000000 4011467b 0a00000a c6336407 0fa00fa0 001aac35 000000000000000000000000000000000000>,
  LIMIT $LIMIT, BURST 32, ACTIVE false, STOP true);

rw :: IPRewriter(pattern 203.0.113.2 1024-65535 - - 0 1, drop);

src -> CheckIPHeader(BADSRC 10.0.0.1 203.0.113.2 0.0.0.0 255.255.255.255)
  -> kind :: IPClassifier(dst host 10.0.0.1, tcp dst port 21, tcp or udp, icmp type echo, -);
kind[0] -> Discard;
kind[1] -> Discard;
kind[3] -> Discard;
kind[4] -> Discard;
kind[2] -> [0]rw;
Idle -> [1]rw;
rw[1] -> Discard;
rw[0] -> ttl :: DecIPTTL
  -> StaticIPLookup(203.0.113.0/24 0, 0.0.0.0/0 203.0.113.1 0)
  -> arp :: ARPQuerier(203.0.113.2, 02:00:00:00:00:01)
  -> Queue -> d :: Discard(BURST 32);
ttl[1] -> Discard;
Idle -> [1]arp;

Script(write arp.insert 203.0.113.1 02:00:00:00:00:02 permanent, write src.active true);
