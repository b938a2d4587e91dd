// A packet for each write.
s :: TCPIPSend -> CheckIPHeader -> CheckTCPHeader -> IPPrint(TIMESTAMP false) -> Discard;
Script(write s.send 1.0.0.1 1024 2.0.0.2 80 1000 0 2, stop);
//= 1.0.0.1.1024 > 2.0.0.2.80: S 1000:1001(1,40,40) win 32120
