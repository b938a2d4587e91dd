// Forward rates are high, reverse rates are not: the packets leave at output 1.
RatedSource(RATE 1000, LIMIT 2000, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> CheckIPHeader -> m :: IPRateMonitor(PACKETS, 1, 100000)
  -> b :: CompareBlock(5, 2, 100); b[0] -> low :: Counter -> Discard; b[1] -> high :: Counter -> Discard;
Script(TYPE PASSIVE, return $(gt $(high.count) 1000));
//? b.thresh
//= 100
//? b.fwd_weight
//= 5
