// A PORT command names the address that the rewriter gave to the client's data connection; what follows moves in sequence.
rw :: TCPRewriter(pattern 1.0.0.1 9000-9009# - - 0 1, drop);
syn :: InfiniteSource(DATA \<450000280001000040066bce0a0000010500000107d0001500000064000000005002020096980000>, LIMIT 1) -> in :: CheckIPHeader;
port :: InfiniteSource(DATA \<4500003d0001000040066bb90a0000010500000107d00015000000650000000050180200717c0000504f52542031302c302c302c312c342c3231300d0a>,
  LIMIT 1, ACTIVE false) -> in;
in -> FTPPortMapper(rw, rw, 0) -> [0] rw;
rw[0] -> CheckIPHeader -> CheckTCPHeader -> IPPrint(out, TIMESTAMP false) -> StripIPHeader -> Strip(20) -> Print(command, 40) -> Discard;
Idle -> [1] rw; rw[1] -> Discard;
Script(wait 0.1, write port.active true, wait 0.1, stop);
//= out: 1.0.0.1.9000 > 5.0.0.1.21: S 100:101(1,40,40) win 512
//= command:    0
//= out: 1.0.0.1.9000 > 5.0.0.1.21: P 101:121(20,60,60) ack 0 win 512
//= command:   20 | 504f5254 20312c30 2c302c31 2c33352c 34310d0a
