// A GRE tunnel, whose packets have sums, keys and numbers; with another key they do not pass.
InfiniteSource(LIMIT 3, STOP true, DATA hello) -> GREEncap(0x0800, CHECKSUM true, KEY 7, SEQUENCE true) -> t :: Tee
  -> c :: CheckGREHeader(CHECKSUM true, KEY 7, SEQUENCE true, DETAILS true) -> StripGREHeader -> CheckLength(5) -> n :: Counter -> Discard;
t[1] -> other :: CheckGREHeader(KEY 8) -> Discard;
//= GRE header check failed: invalid key
//? n.count
//= 3
//? c.drops
//= 0
//? other.drops
//= 3
//! then
Idle -> GREEncap -> Discard;
//! error PROTOCOL: required argument missing
