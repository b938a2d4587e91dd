// A number, the time, and later how long it took.
RatedSource(DATA \<00>, LENGTH 22, RATE 10, LIMIT 1) -> UDPIPEncap(10.0.1.1, 6667, 20.0.0.2, 6667) -> s :: StoreUDPTimeSeqRecord(OFFSET 0)
  -> Queue -> DelayUnqueue(0.5) -> StoreUDPTimeSeqRecord(OFFSET 0, DELTA true) -> CheckUDPHeader -> Strip(40) -> Print -> Discard;
Script(wait 2, stop);
//=   10 | 00000000 1dcd6500 0000
//? s.count
//= 1
