// A link whose frames hold 300 bytes: larger IP packets are cut into fragments.
//
//   clique run conf/fragments.click -h whole.count -h parts.count

FastUDPSource(0, 2, 1014, 0:0:0:0:0:1, 10.0.0.1, 1234, 0:0:0:0:0:2, 10.0.0.2, 53)
  -> Unqueue -> Strip(14) -> CheckIPHeader
  -> whole :: Counter -> f :: IPFragmenter(300) -> parts :: Counter(COUNT_CALL 8 stop) -> Discard;
f[1] -> ICMPError(10.0.0.254, unreachable, needfrag) -> Discard;

//? whole.count
//= 2
//? parts.count
//= 8
