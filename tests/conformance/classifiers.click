// Packets part by what their headers say.
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 3) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 53) -> c :: IPClassifier(tcp, dst port 53, -);
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 2) -> IPEncap(tcp, 1.0.0.1, 2.0.0.2) -> c;
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> IPEncap(50, 1.0.0.1, 2.0.0.2) -> c;
c[0] -> tcp :: Counter -> Discard; c[1] -> dns :: Counter -> Discard; c[2] -> rest :: Counter -> Discard;
InfiniteSource(DATA \<00>, LENGTH 8, LIMIT 3) -> IP6Encap(udp, 2001:db8::1, 2001:db8::2)
  -> c6 :: IP6Classifier(src host 2001:db8::2, dst net 2001:db8::/32, -);
c6[0] -> from :: Counter -> Discard; c6[1] -> to :: Counter -> IP6Mirror -> MarkIP6Header
  -> IP6Filter(drop src host 2001:db8::1, allow all) -> mirrored :: Counter -> Discard; c6[2] -> Discard;
Script(wait 1, stop);
//? tcp.count
//= 2
//? dns.count
//= 3
//? rest.count
//= 1
//? from.count
//= 0
//? to.count
//= 3
//? mirrored.count
//= 3
