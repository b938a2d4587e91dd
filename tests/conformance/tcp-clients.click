// Clients of TCP servers: one that connects and sends byte by byte, and one that asks for pages.
//! workers 1
t :: ToyTCP(80) -> IPEncap(6, 1.0.0.1, 2.0.0.2) -> SetTCPChecksum -> to :: Counter -> Queue -> DelayUnqueue(0.6)
  -> TCPReflector(RAND_SEQ false) -> Strip(20) -> t;
w :: WebGen(11.11.0.0/16, 10.0.0.1, 2) -> CheckIPHeader -> CheckTCPHeader -> c :: IPClassifier(syn, rst, -);
c[0] -> syn :: Counter -> Discard;
c[1] -> IPPrint(stranger, TIMESTAMP false) -> Discard;
c[2] -> Discard;
s :: TCPIPSend -> w;
Script(write s.send 10.0.0.9 80 11.11.0.1 5 7 9 16, wait 2.5, stop);
//= Allocated 20 CBs
//= stranger: 11.11.0.1.5 > 10.0.0.9.80: R 9:9(0,40,40) win 61440
//= ToyTCP: 0 good in, 0 bad in, 1 out
//= ToyTCP connected
//= ToyTCP: 1 good in, 0 bad in, 3 out
//= init: 4  comp:     0  tmo:     0  rst:     0
//? to.count
//= 4
//? syn.count
//= 6
