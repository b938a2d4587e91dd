// The addresses within an ICMP error are replaced as its own are, so the two that send to each other still do; checksums hold.
InfiniteSource(DATA "1234", LIMIT 1) -> UDPIPEncap(9.8.7.6, 5, 1.2.3.4, 7) -> ICMPError(1.2.3.4, unreachable, port, MTU 576)
  -> a :: AnonymizeIPAddr(SEED false) -> CheckIPHeader -> CheckICMPHeader -> t :: Tee;
t[0] -> AggregateIP(ip src) -> c :: AggregateCounter -> Discard;
t[1] -> Strip(28) -> MarkIPHeader -> AggregateIP(ip dst) -> d :: AggregateFilter(allow 16909060, 1 all) -> Discard; d[1] -> c;
Script(wait 1, stop);
//? c.nagg
//= 1
//? c.count
//= 2
