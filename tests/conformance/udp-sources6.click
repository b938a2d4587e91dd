// As many frames over IPv6 as were asked for, all correct.
FastUDPSourceIP6(1000, 5, 64, 1:1:1:1:1:1, 2001:db8::1, 1, 2:2:2:2:2:2, 2001:db8::2, 2) -> Strip(14) -> CheckIP6Header -> c :: Counter -> Discard;
Script(wait 1, stop);
//? c.count
//= 5
//? c.byte_count
//= 250
