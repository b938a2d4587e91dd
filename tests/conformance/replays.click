// Packets of several inputs come in the order of their timestamps until one input has no more, and leave by the output of their input.
i :: InfiniteSource(DATA a, LIMIT 1) -> SetTimestamp(1) -> q :: Queue; j :: InfiniteSource(DATA b, LIMIT 1) -> SetTimestamp(4) -> q;
k :: InfiniteSource(DATA c, LIMIT 1) -> SetTimestamp(2) -> s :: Queue; l :: InfiniteSource(DATA d, LIMIT 1) -> SetTimestamp(3) -> s;
q -> [0]m :: MultiReplayUnqueue(STOP 0, ACTIVE false)[0] -> Print(0) -> Discard; s -> [1]m[1] -> Print(1) -> Discard;
// With STOP 0 the driver is asked to stop when all is loaded; a script sets how often.
DriverManager(wait 0.1, write m.active true, pause, print $(m.loaded) $(m.packets) $(m.active), write m.stop 2, write m.active true, pause, print "over",
  // What is let go makes room for others.
  write m.reset, write m.timing 50, wait 0.1, print $(m.loaded), stop);
//= Loading m with 2 inputs.
//= m : Successfully loaded 3 packets. Input 1 dried out.
//= true 3 false
//= 0:    1 | 61
//= 1:    1 | 63
//= 1:    1 | 64
//= 0:    1 | 61
//= 1:    1 | 63
//= 1:    1 | 64
//= over
//= false
//? m.count
//= 6
//? m.stop
//= 0
//? m.drop_reasons
//= 1	another input has no more
