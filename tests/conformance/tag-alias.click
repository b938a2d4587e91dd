// EtherVlanEncap is EtherVLANEncap.
InfiniteSource(DATA \<0000>, LIMIT 1, STOP true) -> EtherVlanEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, 5) -> Print(tagged) -> Discard;
//= tagged:   20 | 02020202 02020101 01010101 81000005 08000000
