// Replays of nothing are over as soon as nothing has come; a source may be late within a millisecond.
Idle -> Queue -> r :: ReplayUnqueue(STOP 2, ACTIVE false) -> Discard;
s :: Replay(STOP 1, ACTIVE false) -> Unqueue -> Discard; Idle -> s;
l :: ReplayUnqueue(STOP 1) -> d :: Discard; InfiniteSource(LIMIT 3, BURST 3) -> Queue -> l;
// Without end: they have nothing to do.
Idle -> t :: ReplayUnqueue -> Discard;
Idle -> u :: Replay -> Unqueue -> Discard;
DriverManager(wait, print $(d.count), wait 0.1, write r.active true, wait, print $(r.loaded) $(r.stop) $(r.active),
  write s.active true, wait, print $(s.loaded) $(s.stop) $(s.active), stop);
//= Loading l with 1 inputs.
//= Loading t with 1 inputs.
//= Loading u with 1 inputs.
//= l : Successfully loaded 3 packets. Input 0 dried out.
//= 3
//= t : Successfully loaded 0 packets. Input 0 dried out.
//= u : Successfully loaded 0 packets. Input 0 dried out.
//= Loading r with 1 inputs.
//= r : Successfully loaded 0 packets. Input 0 dried out.
//= true 0 false
//= Loading s with 1 inputs.
//= s : Successfully loaded 0 packets. Input 0 dried out.
//= true 0 false
//! workers 1
