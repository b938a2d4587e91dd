// A packet is cut into pieces and put together again.
InfiniteSource(DATA \<00>, LENGTH 100, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> CheckIPHeader
  -> whole :: Counter -> f :: IPFragmenter(60) -> IPPrint(part, LENGTH true, TIMESTAMP false) -> r :: IPReassembler
  -> again :: Counter -> Discard;
Script(wait 1, stop);
//= part: length 60 1.0.0.1.1 > 2.0.0.2.2: udp 108 (frag 0:40@0+)
//= part: length 60 1.0.0.1 > 2.0.0.2: udp (frag 0:40@40+)
//= part: length 48 1.0.0.1 > 2.0.0.2: udp (frag 0:28@80)
//? whole.byte_count
//= 128
//? f.fragments
//= 3
//? again.byte_count
//= 128
