// Where packets' data begins: everywhere is a multiple of 1, and nowhere one of nearly all addresses.
InfiniteSource(LIMIT 3) -> m :: PacketMemStats(ALIGN_STRIDE 1) -> o :: PacketMemAligned(ALIGN_STRIDE 1) -> Discard;
Script(wait 0.1, print $(m.aligned_pkts) $(m.unaligned_pkts) $(m.total_pkts) $(m.aligned_pkts_ratio), write m.align_stride 4294967295, stop);
InfiniteSource(LIMIT 1) -> n :: PacketMemStats(ALIGN_STRIDE 4294967295) -> Discard;
//= 3 0 3 100
//? m.align_stride
//= 4294967295
//? n.unaligned_pkts_ratio
//= 100
//? n.unaligned_pkts
//= 1
