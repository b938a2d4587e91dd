// Packets of several inputs are kept in the order of their timestamps until one input has no more, and are pulled at the output of their input.
i :: InfiniteSource(DATA a, LIMIT 1) -> SetTimestamp(1) -> q :: Queue; j :: InfiniteSource(DATA b, LIMIT 1) -> SetTimestamp(4) -> q;
k :: InfiniteSource(DATA c, LIMIT 1) -> SetTimestamp(2) -> s :: Queue; l :: InfiniteSource(DATA d, LIMIT 1) -> SetTimestamp(3) -> s;
q -> [0]m :: MultiReplay(STOP 2)[0] -> Unqueue -> Print(0) -> a :: Discard; s -> [1]m[1] -> u :: Unqueue(ACTIVE false) -> Print(1) -> b :: Discard;
// It stops when all was pulled.
Script(wait 1, print $(a.count) $(b.count) $(m.packets) $(m.stop), write u.active true);
//= Loading m with 2 inputs.
//= m : Successfully loaded 3 packets. Input 1 dried out.
//= 0:    1 | 61
//= 0:    1 | 61
//= 2 0 3 0
//= 1:    1 | 63
//= 1:    1 | 64
//= 1:    1 | 63
//= 1:    1 | 64
//? m.count
//= 6
//? m.active
//= false
//! then
// A queue that is full holds up the other one.
i :: InfiniteSource(DATA a, LIMIT 1) -> SetTimestamp(1) -> q :: Queue; j :: InfiniteSource(DATA b, LIMIT 1) -> SetTimestamp(4) -> q;
k :: InfiniteSource(DATA c, LIMIT 1) -> SetTimestamp(2) -> s :: Queue; l :: InfiniteSource(DATA d, LIMIT 1) -> SetTimestamp(3) -> s;
q -> [0]m :: MultiReplay(3, BURST 1)[0] -> Unqueue -> a :: Discard; s -> [1]m[1] -> u :: Unqueue(ACTIVE false) -> b :: Discard;
Script(wait 1, print $(a.count) $(b.count), write u.active true, wait 0.1, print $(lt 20 $(b.count)), write m.active false, wait 0.1,
  print $(eq $(m.count) $(add $(a.count) $(b.count))), write m.reset, print $(m.loaded) $(m.packets), stop);
//= Loading m with 2 inputs.
//= m : Successfully loaded 3 packets. Input 1 dried out.
//= 2 0
//= true
//= true
//= false 0
//! then
Idle -> MultiReplay(0) -> Discard;
//! error QUEUE must be positive
