// An intrusion detector's tap: every packet goes on, a copy of each goes to a filter, and what the filter finds is
// printed. The traffic: four packets to a web server, three to telnet.
//
//   clique run conf/tap.click

FastUDPSource(0, 4, 60, 0:0:0:0:0:1, 10.0.0.1, 4000, 0:0:0:0:0:2, 10.0.0.2, 80) -> Unqueue -> t :: Tee;
FastUDPSource(0, 3, 60, 0:0:0:0:0:1, 10.0.0.9, 4000, 0:0:0:0:0:2, 10.0.0.2, 23) -> Unqueue -> t;

t[0] -> passed :: Counter(COUNT_CALL 7 stop) -> Discard;
t[1] -> Strip(14) -> CheckIPHeader
  -> alarm :: IPClassifier(dst port 23, -);
alarm[0] -> found :: Counter -> IPPrint(telnet, TIMESTAMP false) -> Discard;
alarm[1] -> Discard;

//= telnet: 10.0.0.9.4000 > 10.0.0.2.23: udp 26
//= telnet: 10.0.0.9.4000 > 10.0.0.2.23: udp 26
//= telnet: 10.0.0.9.4000 > 10.0.0.2.23: udp 26
//? passed.count
//= 7
