// Packets to random addresses, told apart by what a classifier of frames and one of IP packets say: batches go three ways.
define($LIMIT 1000);

// UDP from 10.0.0.2, port 4000.
src :: InfiniteSource(DATA \<
  000000000000 000000000000 0800  4500002e 00000000 4011aaaa 0a000002 c6120001
  0fa00fa0 001a1065 000000000000000000000000000000000000>, LIMIT $LIMIT, BURST 32, STOP true);

src -> SetRandIPAddress(198.18.0.0/15)
  -> StoreIPAddress(30)
  -> frames :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, 12/86dd, -);
frames[0] -> Discard;
frames[1] -> Discard;
frames[3] -> Discard;
frames[4] -> Discard;
frames[2] -> MarkIPHeader(14) -> ip :: IPClassifier(
  icmp type echo,
  tcp dst port 22 or tcp dst port 179,
  tcp and dst net 198.18.0.0/16 and (dst port 80 or dst port 443),
  udp dst port 53 or udp src port 53,
  dst net 198.18.0.0/17,
  src net 10.0.0.0/8 and dst net 198.19.0.0/16,
  ip proto 50,
  -);
d :: Discard;
ip[0] -> Discard;
ip[1] -> Discard;
ip[2] -> Discard;
ip[3] -> Discard;
ip[6] -> Discard;
ip[4] -> Paint(1) -> d;
ip[5] -> Paint(2) -> d;
ip[7] -> Paint(3) -> d;
