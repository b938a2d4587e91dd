// Messages about time are 20 bytes long; a file has its head before there are packets; damaged packets are told of by what is left.
FromIPSummaryDump(DATA "!data ntimestamp ip_proto icmp_type\n5.000000007 I timestamp\n6.000000001 I echo\n")
  -> t :: Tee -> ToIPSummaryDump($DIR/t, CONTENTS ntimestamp ip_len, HEADER false) -> Discard;
t[1] -> ToIPSummaryDump($DIR/b, CONTENTS ntimestamp ip_len, HEADER false, BINARY true) -> Discard;
f :: FromIPSummaryDump(DATA "!data ip_proto wire_len\nT 24\nT 60\n", ACTIVE false)
  -> bad :: ToIPSummaryDump($DIR/bad, CONTENTS tcp_seq tcp_flags, BAD_PACKETS true) -> Discard;
s :: Script(write bad.flush, print s.cat $DIR/bad, write f.active true, wait 1, write ToIPSummaryDump@3.flush, write ToIPSummaryDump@5.flush,
  write bad.flush, print s.cat $DIR/t, print s.length $(s.cat $DIR/b), print s.cat $DIR/bad, stop);
//= !IPSummaryDump 1.3
//= !data tcp_seq tcp_flags
//= 5.000000007 40
//= 6.000000001 28
//= 32
//= !IPSummaryDump 1.3
//= !data tcp_seq tcp_flags
//= !bad truncated TCP header
//= - -
//= 0 .
