// An address that does not fit leaves at output 1; an annotation of zero is not written.
//! workers 1
InfiniteSource(DATA \<0000000000>, LIMIT 1) -> s :: StoreIPAddress(1.2.3.4, 1) -> t :: StoreIPAddress(ADDR 5.6.7.8, OFFSET 2)
  -> Discard; s[1] -> Discard;
t[1] -> Print(late) -> u :: StoreIPAddress(9) -> Print(kept) -> StoreIPAddress(0.0.0.0, src) -> Print(never)
  -> Discard; u[1] -> Discard;
Script(wait 1, stop);
//= late:    5 | 00010203 04
//= kept:    5 | 00010203 04
