// Headers are put on, rewritten, turned round and filtered.
InfiniteSource(DATA \<45>, LIMIT 1) -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> Print(encap)
  -> EtherMirror -> Print(mirror) -> EtherRewrite(3:3:3:3:3:3, 4:4:4:4:4:4) -> Print(rewrite)
  -> StoreEtherAddress(6:6:6:6:6:6, dst) -> MarkMACHeader -> EnsureEther -> Print(store)
  -> h :: HostEtherFilter(5:5:5:5:5:5) -> Discard;
h[1] -> other :: Counter(COUNT_CALL 1 stop) -> Discard;
//= encap:   15 | 02020202 02020101 01010101 080045
//= mirror:   15 | 01010101 01010202 02020202 080045
//= rewrite:   15 | 04040404 04040303 03030303 080045
//= store:   15 | 06060606 06060303 03030303 080045
//? other.count
//= 1
//! then
// A header's length says where the next one begins.
InfiniteSource(DATA abcdefgh, LIMIT 1, STOP true) -> MarkMACHeader(1, 3) -> StripToNetworkHeader -> Print(CONTENTS ASCII) -> Discard;
//=    4 |  efgh
