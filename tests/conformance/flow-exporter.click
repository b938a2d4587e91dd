// Two flows with five packets between them come to an end when no packet has come for a while: a record each, in one message.
InfiniteSource(LIMIT 3) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 53) -> fx :: FlowExporter(IDLE_TIMEOUT 2);
InfiniteSource(LIMIT 2) -> UDPIPEncap(10.0.0.1, 1001, 10.0.0.2, 53) -> fx;
fx[0] -> Counter -> Discard;
fx[1] -> m :: Counter -> Discard;
Script(wait 1, print $(fx.count) $(fx.exported), wait 4, print $(fx.count) $(fx.exported) $(fx.messages) $(fx.dropped), stop);
//= 2 0
//= 0 2 1 0
//? m.count
//= 1
