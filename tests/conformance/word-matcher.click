// Words are masked, also where they begin in one packet and end in the next, for which the first one waits. Of each word one counts of what comes at once.
FromIPSummaryDump($DIR/in, CHECKSUM true, STOP false) -> in :: TCPIn(RETURNNAME back) -> w :: WordMatcher(WORD attack) -> TCPOut
  -> o1 :: ToIPSummaryDump($DIR/o1, FIELDS tcp_seq tcp_flags payload, HEADER false);
Idle -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
s :: Script(wait 3, write o1.flush, print s.cat $DIR/o1, stop);
//< in !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< in 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< in 1.0.0.1 1 2.0.0.2 80 T A 100 500 "attack, attack! att"
//< in 1.0.0.1 1 2.0.0.2 80 T A 100 500 ""
//< in 1.0.0.1 1 2.0.0.2 80 T A 119 500 "ack!"
//< in 1.0.0.1 1 2.0.0.2 80 T A 119 500 "ack!"
//< in 1.0.0.1 1 2.0.0.2 80 T A 123 500 "atta"
//< in 1.0.0.1 1 2.0.0.2 80 T FA 127 500 ""
//= 99 S ""
//= 100 A ""
//= 100 A "******, attack! ***"
//= 119 A "***!"
//= 119 A "***!"
//= 123 A "atta"
//= 127 FA ""
//? w.found
//= 2
//! then
// All words count, and each mode does something else.
FromIPSummaryDump($DIR/words, CHECKSUM true, STOP false) -> t :: Tee(3);
t[0] -> a :: TCPIn(RETURNNAME w) -> WordMatcher(REPLACE, "no!", WORD attack, WORD at, ALL true) -> TCPOut -> o1 :: ToIPSummaryDump($DIR/o1, FIELDS tcp_seq payload, HEADER false);
t[1] -> b :: TCPIn(RETURNNAME x) -> WordMatcher(MODE REMOVE, WORD attack, WORD at, ALL true) -> TCPOut -> o2 :: ToIPSummaryDump($DIR/o2, FIELDS tcp_seq payload, HEADER false);
t[2] -> c :: TCPIn(RETURNNAME y) -> WordMatcher(MODE FULL, MSG <>, WORD attack, WORD at, ALL true) -> TCPOut -> o3 :: ToIPSummaryDump($DIR/o3, FIELDS tcp_seq payload, HEADER false);
Idle -> w :: TCPIn(RETURNNAME a) -> TCPOut -> Discard; Idle -> x :: TCPIn(RETURNNAME b) -> TCPOut -> Discard;
Idle -> y :: TCPIn(RETURNNAME c) -> TCPOut -> Discard;
s :: Script(wait 3, write o1.flush, print s.cat $DIR/o1, write o2.flush, print s.cat $DIR/o2, write o3.flush, print s.cat $DIR/o3, stop);
//< words !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< words 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< words 1.0.0.1 1 2.0.0.2 80 T A 100 500 "at 6 attack, atta."
//= 99 ""
//= 100 "no 6 no!no!, nota."
//= 99 ""
//= 100 " 6 , ta."
//= 99 ""
//= 100 "<> 6 <>, <>ta."
//! then
// What waits goes on after a while if nothing comes, as far as it is no word by itself.
FromIPSummaryDump($DIR/pause, CHECKSUM true, STOP false) -> in :: TCPIn(RETURNNAME back) -> w :: WordMatcher(WORD attack, WORD tac, TIMEOUT 2) -> TCPOut
  -> o1 :: ToIPSummaryDump($DIR/o1, FIELDS tcp_seq payload, HEADER false);
Idle -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
s :: Script(wait 1, write o1.flush, print s.cat $DIR/o1, wait 2, print "then", write o1.flush, print s.cat $DIR/o1, stop);
//< pause !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< pause 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< pause 1.0.0.1 1 2.0.0.2 80 T A 100 500 "an attac"
//= 99 ""
//= then
//= 99 ""
//= 100 "an at***"
//! then
// MODE CLOSE ends the connection on both sides where a word ends, MODE ALERT says so only.
FromIPSummaryDump($DIR/close, CHECKSUM true, STOP false) -> t :: Tee;
t[0] -> a :: TCPIn(RETURNNAME x) -> w :: WordMatcher(CLOSE, WORD attack) -> out :: TCPOut -> o1 :: ToIPSummaryDump($DIR/o1, FIELDS src tcp_flags tcp_seq tcp_ack payload, HEADER false);
out[1] -> o1;
t[1] -> b :: TCPIn(RETURNNAME y) -> v :: WordMatcher(ALERT, WORD attack) -> TCPOut -> c :: Counter -> Discard;
Idle -> x :: TCPIn(RETURNNAME a) -> TCPOut -> Discard; Idle -> y :: TCPIn(RETURNNAME b) -> TCPOut -> Discard;
s :: Script(wait 3, write o1.flush, print s.cat $DIR/o1, stop);
//< close !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< close 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< close 1.0.0.1 1 2.0.0.2 80 T A 100 500 "an att"
//< close 1.0.0.1 1 2.0.0.2 80 T A 106 500 "ack"
//< close 1.0.0.1 1 2.0.0.2 80 T A 109 500 "more"
//= Attack found !
//= 1.0.0.1 S 99 0 ""
//= 1.0.0.1 A 100 500 "an att"
//= 1.0.0.1 RA 106 500 ""
//= 2.0.0.2 RA 0 106 ""
//= 1.0.0.1 A 109 500 ""
//? c.count
//= 4
//! then
// Where more packets would have to wait than can, the connection is closed.
FromIPSummaryDump($DIR/crowd, CHECKSUM true, STOP false) -> in :: TCPIn(RETURNNAME back, WAITING 2) -> w :: WordMatcher(WORD attack) -> TCPOut
  -> o1 :: ToIPSummaryDump($DIR/o1, FIELDS tcp_flags tcp_seq payload, HEADER false);
Idle -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
s :: Script(wait 3, write o1.flush, print s.cat $DIR/o1, stop);
//< crowd !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< crowd 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< crowd 1.0.0.1 1 2.0.0.2 80 T A 100 500 "a"
//< crowd 1.0.0.1 1 2.0.0.2 80 T A 101 500 "t"
//< crowd 1.0.0.1 1 2.0.0.2 80 T A 102 500 "t"
//= S 99 ""
//= RA 100 ""
//? w.drop_reasons
//= 2	connection closed
//! then
Idle -> TCPIn -> WordMatcher(WORD a, MODE HIDE) -> TCPOut -> Discard; Idle -> TCPIn -> TCPOut -> Discard;
//! error Mode must be MASK, REMOVE, REPLACE, ALERT, CLOSE or FULL
//! then
Idle -> TCPIn -> WordMatcher -> TCPOut -> Discard; Idle -> TCPIn -> TCPOut -> Discard;
//! error No words given
//! then
Idle -> WordMatcher(WORD a) -> Discard;
//! error needs a TCPIn upstream
