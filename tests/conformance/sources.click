// Sources make as many packets as they are told to, of the right length.
RandomSource(50, LIMIT 7) -> a :: Counter -> Discard;
FastUDPSource(1000, 5, 60, 1:1:1:1:1:1, 10.0.0.1, 1, 2:2:2:2:2:2, 10.0.0.2, 2) -> Strip(14) -> b :: CheckIPHeader -> CheckUDPHeader -> cb :: Counter -> Discard;
EtherPauseSource(1:1:1:1:1:1, 5, LIMIT 3) -> c :: Counter -> Discard;
ICMPPingSource(10.0.0.1, 10.0.0.2, LIMIT 4, INTERVAL 0.1, VERBOSE false) -> d :: Counter -> IPMirror -> ICMPPingResponder -> Discard;
ARPFaker(10.0.0.1, 1:1:1:1:1:1, 10.0.0.2, 2:2:2:2:2:2) -> e :: Counter -> Discard;
Script(wait 5, stop);
//? a.byte_count
//= 350
//? c.count
//= 3
