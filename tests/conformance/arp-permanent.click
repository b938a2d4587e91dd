// What an administrator calls permanent, no reply changes; a reply to no query is entered, as in Click.
q :: ARPQuerier(10.0.0.1, 1:1:1:1:1:1);
Idle -> [0] q; q[0] -> Discard; q[1] -> Discard;
r2 :: InfiniteSource(DATA \<01010101 01010606 06060606 08060001 08000604 00020606 06060606 0a000002 01010101 0101 0a000001>,
  LIMIT 1, ACTIVE false) -> [1] q;
r3 :: InfiniteSource(DATA \<01010101 01010606 06060606 08060001 08000604 00020606 06060606 0a000003 01010101 0101 0a000001>,
  LIMIT 1, ACTIVE false) -> [1] q;
Script(write q.insert 10.0.0.2 2:2:2:2:2:2 permanent, write r2.active true, wait 1, write r3.active true, wait 1000,
  print $(q.neighbours), write q.delete 10.0.0.2, print $(q.table), stop);
//= 10.0.0.2 02-02-02-02-02-02 permanent 1001.000
//= 10.0.0.2 0 FF-FF-FF-FF-FF-FF 0.000000
//? q.refused
//= 1
//? q.responses
//= 2
