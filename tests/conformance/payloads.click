// Payloads become zeros, or go.
RatedSource(DATA "payload!", RATE 10, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2, false) -> t :: Tee;
t -> EraseIPPayload -> Strip(20) -> Print(e) -> Discard;
t[1] -> TruncateIPPayload(3) -> Strip(20) -> Print(t) -> Discard;
Script(wait 1, stop);
//= e:   16 | 00010002 00100000 00000000 00000000
//= t:   11 | 00010002 00100000 706179
