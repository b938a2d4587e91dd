// The address is said once.
Idle -> StoreEtherAddress(1:1:1:1:1:1, src, ANNO 0) -> Discard;
//! error must specify exactly one of ADDR/ANNO
