// The gateways of two nodes: each answers for its own address, and the second for both once the first has drained. It has the first one's
// flow then.
elementclass Node { $node, $own |
  vlb :: VLBNode($node, 2, KEY k);
  rw :: IPRewriter(pattern 192.0.2.1 1024-65535 - - 0 1, drop);
  state :: VLBState(vlb, rw) -> vlb -> leaving :: Classifier(12/88b6, -) -> state;
  leaving[1] -> Discard;
  input[0] -> gate :: VLBGate(state, $own, 10.0.0.1, 10.0.1.1) -> Strip(14) -> MarkIPHeader -> rw -> VLBEncap(1) -> vlb;
  Idle -> MarkIPHeader -> [1]rw; rw[1] -> Discard;
  gate[1] -> [0]output;
  input[1] -> [1]vlb[1] -> SetTimestamp -> Queue -> DelayUnqueue(50us) -> [1]output }
n0 :: Node(0, 02:00:00:00:00:01); n1 :: Node(1, 02:00:00:00:00:02);
n0[1] -> [1]n1; n1[1] -> [1]n0;

// A host asks both for the first address, and sends the first one a packet.
ask :: InfiniteSource(DATA \<ffffffffffff 060606060606 0806 0001 0800 06 04 0001 060606060606 0a000002 000000000000 0a000001>, LIMIT 1, ACTIVE false)
  -> t :: Tee;
t[0] -> n0; t[1] -> n1;
send :: InfiniteSource(DATA \<02c200000000 060606060606 0800
  4500001c 00000000 40110000 0a000002 0a000102 03e80035 00080000>, LIMIT 1, ACTIVE false) -> n0;
n0[0], n1[0] -> Discard;
Script(wait 1, write ask.active true, write send.active true, wait 1,
  print $(n0/gate.answered) $(n1/gate.answered) $(n0/rw.table_size) $(n1/rw.table_size),
  write n0/vlb.drain, wait 1, write ask.reset, write ask.active true, wait 1,
  print $(n0/vlb.phase) $(n0/gate.answered) $(n1/gate.answered) $(n1/rw.table_size), stop);
//= 1 0 1 0
//= left 1 1 1
//? n1/state.duties
//= 0 1
