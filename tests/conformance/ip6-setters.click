// Fields of IPv6 headers.
SimpleIdle -> Discard;
InfiniteSource(DATA \<600000000000 3b40 20010db8000000000000000000000001 20010db8000900000000000000000009>, LIMIT 1, STOP true)
  -> CheckIP6Header -> SetIP6FlowLabel(0x12345) -> SetIP6Hlim(9) -> SetIP6DSCP(46) -> SetIP6ECN(ce) -> Print(set, 8) -> Discard;
//= set:   40 | 6bb12345 00003b09
