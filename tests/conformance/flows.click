// Made-up flows, and a rewriter for TCP.
FastUDPFlows(1000, 10, 60, 1:1:1:1:1:1, 10.0.0.1, 2:2:2:2:2:2, 10.0.0.2, 2, 5, true) -> u :: Unqueue -> a :: Counter -> Discard;
FastTCPFlows(1000, 10, 60, 1:1:1:1:1:1, 10.0.0.1, 2:2:2:2:2:2, 10.0.0.2, 2, 5, true) -> Unqueue -> b :: Counter
  -> Strip(14) -> CheckIPHeader -> r :: TCPRewriter(pattern 192.0.2.1 1024-65535 - - 0 0) -> CheckIPHeader -> CheckTCPHeader
  -> c :: Counter -> Discard;
Script(wait 1, stop);
//? a.count
//= 10
