// Counts packets by destination network: AggregateIP labels each packet with the first 24 bits of its destination
// address, AggregateCounter counts by label: ten packets, two networks.
//
//   clique run conf/who-talks.click -h c.count -h c.nagg

FastUDPSource(0, 4, 60, 0:0:0:0:0:1, 10.0.0.1, 1, 0:0:0:0:0:2, 10.0.1.7, 2) -> Unqueue -> in :: Strip(14);
FastUDPSource(0, 6, 60, 0:0:0:0:0:1, 10.0.0.1, 1, 0:0:0:0:0:2, 10.0.2.9, 2) -> Unqueue -> in;

in -> CheckIPHeader -> AggregateIP(ip dst/24) -> c :: AggregateCounter(COUNT_STOP 10) -> Discard;

//? c.count
//= 10
//? c.nagg
//= 2
