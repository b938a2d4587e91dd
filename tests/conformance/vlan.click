// A tag is put on, taken off and kept in the annotation.
InfiniteSource(DATA \<0000>, LIMIT 1) -> EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, 5) -> Print(tagged)
  -> VLANDecap -> Print(plain) -> VLANEncap(ANNO) -> Print(again) -> SetVLANAnno(7) -> VLANDecap(ANNO false)
  -> VLANEncap(ANNO) -> Print(seven) -> StripEtherVLANHeader -> Print(stripped) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= tagged:   20 | 02020202 02020101 01010101 81000005 08000000
//= plain:   16 | 02020202 02020101 01010101 08000000
//= again:   20 | 02020202 02020101 01010101 81000005 08000000
//= seven:   20 | 02020202 02020101 01010101 81000007 08000000
//= stripped:    2 | 0000
