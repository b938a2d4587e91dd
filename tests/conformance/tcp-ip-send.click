// A packet for each write, or several.
//! workers 1
s :: TCPIPSend -> CheckIPHeader -> CheckTCPHeader -> IPPrint(TIMESTAMP false) -> c :: Counter -> Discard;
Script(write s.send 1.0.0.1 1024 2.0.0.2 80 1000 0 2, wait 1, write s.send 1.0.0.1 1024 2.0.0.2 80 1000 0 2 2 true, wait 1, print never);
//= 1.0.0.1.1024 > 2.0.0.2.80: S 1000:1001(1,40,40) win 32120
//= 1.0.0.1.1024 > 2.0.0.2.80: S 1000:1001(1,40,40) win 32120
//= 1.0.0.1.1024 > 2.0.0.2.80: S 1000:1001(1,40,40) win 32120
//? c.count
//= 3
