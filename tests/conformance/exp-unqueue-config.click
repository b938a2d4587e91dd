// Like RatedUnqueue's, the configuration of EXPUnqueue reads as its rate.
Idle -> u :: EXPUnqueue(20, BURST 2) -> Discard; Idle -> r :: RatedUnqueue(20, BURST_SIZE 2) -> Discard;
Script(write u.rate 30, stop);
//? u.config
//= 30
//? u.rate
//= 30
//? r.config
//= 20
