// A packet generator with two streams of different rates and sizes, and the means to look at what it does.
//
//   clique run --simtime conf/generator.click -h small.count -h large.count

FastUDPSource(1000, 2000, 60, 0:0:0:0:0:1, 10.0.0.1, 1000, 0:0:0:0:0:2, 10.0.0.2, 2000) -> Unqueue -> small :: Counter -> Discard;
FastUDPSource(100, 200, 1500, 0:0:0:0:0:1, 10.0.0.1, 1001, 0:0:0:0:0:2, 10.0.0.2, 2000) -> Unqueue -> large :: Counter -> Discard;

Script(wait 5, stop);

//? small.count
//= 2000
//? large.count
//= 200
