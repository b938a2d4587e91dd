// What only informs is accepted, and names stand for addresses.
AddressInfo(gate 10.0.0.1 1:1:1:1:1:1);
AlignmentInfo(e 4 0); BalancedThreadSched(1000, INCREASING false); RandomSeed(7);
Message("read");
StaticThreadSched(s 0, nobody 0);
s :: InfiniteSource(DATA \<00>, LIMIT 1) -> IPEncap(50, gate, gate)
  -> EtherEncap(0x0800, gate, gate) -> e :: Print(named, 34) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= config:4: While configuring 'Message@5 :: Message':
//=   read
//= named:   35 | 01010101 01010101 01010101 08004500 00150000 0000fa32 acb50a00 00010a00 0001
