// Packets take on the addresses, ports and sequence numbers of others.
//! workers 1
f :: CopyFlowID; s :: CopyTCPSeq;
a :: TCPIPSend -> [0] f -> [0] s -> Discard;
b :: TCPIPSend -> [1] f [1] -> [1] s [1] -> SetIPChecksum -> SetTCPChecksum -> CheckIPHeader -> CheckTCPHeader -> IPPrint(TIMESTAMP false) -> Discard;
Script(write b.send 5.0.0.1 5 5.0.0.2 6 50 0 2, write a.send 1.0.0.1 1 1.0.0.2 2 100 0 2, write a.send 1.0.0.3 3 1.0.0.4 4 90 0 2,
  write b.send 5.0.0.1 5 5.0.0.2 6 50 0 2, write f.reset, write s.reset, write a.send 1.0.0.3 3 1.0.0.4 4 90 0 2,
  write b.send 5.0.0.1 5 5.0.0.2 6 50 0 2, stop);
//= 0.0.0.0.0 > 0.0.0.0.0: S 50:51(1,40,40) win 32120
//= 1.0.0.1.1 > 1.0.0.2.2: S 100:101(1,40,40) win 32120
//= 1.0.0.3.3 > 1.0.0.4.4: S 90:91(1,40,40) win 32120
