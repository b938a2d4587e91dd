// A table is made at once: sizes that no machine has memory for are mistakes. So are places outside of the annotations.
Idle -> CheckNumberPacket(0, 4294967295) -> f :: FlowIPManager(CAPACITY 300000000) -> IPRRSwitch(CAPACITY 268435457)
  -> r :: IPLookup(0/0 0, CACHE 4294967295) -> Pipeliner(2147483647) -> Paint(1, ANNO 18446744073709551615) -> Discard;
//! error COUNT: out of range, bound 268435456
//! error CAPACITY: out of range, bound 268435456
//! error CAPACITY: out of range, bound 268435456
//! error CACHE: out of range, bound 268435456
//! error CAPACITY: out of range, bound 268435456
//! error ANNO: parse error
