// Ping: one host asks, the other one, 10 ms away, answers; the summary is that of ping(8).
//
//   clique run --simtime conf/ping.click -h ping.summary

ping :: ICMPPingSource(10.0.0.1, 10.0.0.2, LIMIT 3, VERBOSE false)
  -> CheckIPHeader -> CheckICMPHeader
  -> ICMPPingResponder
  -> SetTimestamp -> Queue -> DelayUnqueue(10ms)
  -> back :: Counter -> ping;

Script(wait 5, stop);

//? ping.count
//= 3
//? back.count
//= 3
