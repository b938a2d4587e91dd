// Annotations are set from arguments and from packets' bytes.
InfiniteSource(DATA \<020202020202 01010101>, LIMIT 1) -> SetIPAddress(10.0.0.9) -> StoreIPAddress(0) -> Print(stored)
  -> SetRandIPAddress(10.9.8.7/32) -> StoreIPAddress(0) -> Print(fixed) -> GetEtherAddress(24, 0)
  -> SetEtherAddress(3:3:3:3:3:3, 24) -> SetPacketType(BROADCAST) -> d :: DropBroadcasts -> Discard;
InfiniteSource(DATA \<20010db8 00000000 00000000 00000007 00>, LIMIT 1) -> GetIP6Address(0) -> StoreIP6Address(0)
  -> SetIP6Address(2001:db8::8) -> StoreIP6Address(0) -> Print(six, 16) -> Discard;
Script(wait 1, stop);
//= stored:   10 | 0a000009 02020101 0101
//= fixed:   10 | 0a090807 02020101 0101
//= DropBroadcasts: dropped a packet
//= six:   17 | 20010db8 00000000 00000000 00000008
//? d.drops
//= 1
