// A tag is put on, taken off and kept in the annotation.
InfiniteSource(DATA \<0000>, LIMIT 1) -> EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, 5) -> Print(tagged)
  -> VLANDecap -> Print(plain) -> VLANEncap(ANNO) -> Print(again) -> SetVLANAnno(7) -> VLANDecap(ANNO false)
  -> VLANEncap(ANNO) -> Print(seven) -> StripEtherVLANHeader -> Print(stripped) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= tagged:   20 | 02020202 02020101 01010101 81000005 08000000
//= plain:   16 | 02020202 02020101 01010101 08000000
//= again:   20 | 02020202 02020101 01010101 81000005 08000000
//= seven:   20 | 02020202 02020101 01010101 81000007 08000000
//= stripped:    2 | 0000
//! then
// Who sets one part of the tag control information keeps the other.
Idle -> v :: VLANEncap(0xa123) -> e :: EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, VLAN_TCI 0xa123) -> a :: VLANEncap(ANNO) -> Discard;
Script(write v.vlan_id 6, write e.vlan_pcp 1, write a.vlan_id 6, stop);
//? v.vlan_tci
//= 40966
//? v.config
//= VLAN_ID 6, VLAN_PCP 5
//? e.vlan_tci
//= 8483
//? a.vlan_tci
//= ANNO
