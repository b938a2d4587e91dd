// What FastClick has added to sources.
RatedSource(RATE 100, LIMIT 3, END_CALL end.run) -> Discard; end :: Script(TYPE PASSIVE, print "source ended");
FromIPSummaryDump(DATA "!data ts src sport dst dport proto payload\n5 1.0.0.1 1 2.0.0.2 2 T abc\n", TIMES 2, TIMESTAMP false, MIGRATE false)
  -> IPPrint(again) -> StripIPHeader -> StripTCPHeader -> Print(data) -> UnstripTCPHeader -> UnstripIPHeader -> l :: AverageCounter -> Discard;
Script(wait 0.05, print $(ceil 1.2), stop);
//= again: 0.000000: 1.0.0.1.1 > 2.0.0.2.2: . 0:3(3,43,43) win 0
//= data:    3 | 616263
//= again: 0.000000: 1.0.0.1.1 > 2.0.0.2.2: . 0:3(3,43,43) win 0
//= data:    3 | 616263
//= source ended
//= 2
//? l.byte_count
//= 86
//! then
// Names of what ICMP messages are, and the sides of a link, are read as they are written.
FromIPSummaryDump(DATA "!data link proto icmp_type icmp_code\n> I echo-reply 0\n< I unreachable port\n", STOP true)
  -> IPPrint(icmp, PAINT true) -> Discard;
//= icmp: 0.000000: paint 0: 0.0.0.0 > 0.0.0.0: icmp echo-reply (0, 0)
//= icmp: 0.000000: paint 1: 0.0.0.0 > 0.0.0.0: icmp unreachable port truncated-icmp
