// Elements for Ethernet and TCPFragmenter take new arguments while they run.
//! workers 1
t :: TimedSource(1, DATA \<020000000001 020000000009 0800 45>, LIMIT 3) -> h :: HostEtherFilter(2:0:0:0:0:1) -> s :: SetEtherAddress(2:0:0:0:0:7, 0)
  -> g :: GetEtherAddress(8, src) -> StoreEtherAddress(ANNO 0, OFFSET dst) -> StoreEtherAddress(ANNO 8, OFFSET src) -> Print(mine) -> Discard;
h[1] -> Print(other) -> Discard;
p :: TimedSource(1, DATA \<45000064 00010000 40060000 0a000001 c6336402 13880050 00000001 00000002 50100100 00000000
    00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000>, LIMIT 2)
  -> MarkIPHeader -> f :: TCPFragmenter(60) -> Discard;
Script(wait 1.5, print f.fragments, writeq s.config "2:0:0:0:0:8, 0", writeq g.config "8, dst", writeq f.config 100, wait 1,
  print $(f.count) $(f.fragments), writeq h.config "2:0:0:0:0:2, false, true", print h.ether, wait 1, stop);
//= mine:   15 | 02000000 00070200 00000009 080045
//= 3
//= mine:   15 | 02000000 00080200 00000001 080045
//= 2 3
//= 02-00-00-00-00-02
//= other:   15 | 02000000 00010200 00000009 080045
