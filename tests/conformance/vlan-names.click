// Older names of classes; a frame without a tag belongs to the native VLAN, which may be any; the tag's type can change.
s :: InfiniteSource(DATA \<0000>, LIMIT 1, ACTIVE false) -> SetVlanAnno(9, 2) -> EtherVlanEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, ANNO)
  -> Print(tagged) -> StripEtherVlanHeader -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> StripEtherVLANHeader(0xFFF)
  -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> v :: VLANEncap(ANNO) -> Print(native) -> Counter(COUNT_CALL 1 stop) -> Discard;
Script(write v.ethertype 0x88A8, print $(v.ethertype), write s.active true);
//= 34984
//= tagged:   20 | 02020202 02020101 01010101 81004009 08000000
//= native:   20 | 02020202 02020101 01010101 88a80fff 08000000
