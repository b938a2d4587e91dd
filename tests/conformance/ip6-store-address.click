// Addresses go into the IPv6 header, wherever that is in the packet.
InfiniteSource(DATA \<eeee 600000000000 3b40 20010db8000000000000000000000001 20010db8000000000000000000000009>, LIMIT 1, STOP true)
  -> MarkIP6Header(2) -> StoreIP6Address(2001:db8::7, src) -> SetIP6Address(2001:db8::8) -> StoreIP6Address(OFFSET 'dst')
  -> Print(stored, 50) -> Discard;
//= stored:   42 | eeee6000 00000000 3b402001 0db80000 00000000 00000000 00072001 0db80000 00000000 00000000 0008
