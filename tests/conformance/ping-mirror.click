// Each reply is answered by a further request at once.
p :: ICMPPingSource(1.0.0.1, 2.0.0.2, LIMIT 1, MIRROR true, VERBOSE false) -> Queue -> DelayUnqueue(0.1) -> ICMPPingResponder -> c :: Counter -> [0] p;
Script(wait 3.05, stop);
//? c.count
//= 20
