// FastClick's SYMETRIC says whether both directions are one flow. If not, each has a number of its own, and its packets have the same colour.
//< in !data timestamp ip_src sport ip_dst dport ip_proto payload_len
//< in 1 2.0.0.2 20 1.0.0.1 10 U 8
//< in 2 1.0.0.1 10 2.0.0.2 20 U 8
//< in 3 2.0.0.2 20 1.0.0.1 10 U 8
//< in 4 1.0.0.1 10 1.0.0.1 9 U 8
//< in 5 1.0.0.1 9 1.0.0.1 10 U 8
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> t :: Tee;
t[0] -> AggregateIPFlows -> ToIPSummaryDump($DIR/both, FIELDS aggregate link, HEADER false);
t[1] -> AggregateIPFlows(SYMETRIC false, TRACEINFO $DIR/trace) -> ToIPSummaryDump($DIR/out, FIELDS aggregate link, HEADER false);
//! then
Script(print $(cat $DIR/both), print $(cat $DIR/out), print $(cat $DIR/trace), stop);
//= 1 0
//= 1 1
//= 1 0
//= 2 0
//= 2 1
//= 1 0
//= 2 0
//= 1 0
//= 3 0
//= 4 0
//= <?xml version='1.0' standalone='yes'?>
//= <trace>
//= <flow aggregate='4' src='1.0.0.1' sport='9' dst='1.0.0.1' dport='10' begin='5.000000000' duration='0.000000000'>
//=   <stream dir='0' packets='1' /><stream dir='1' packets='0' />
//= </flow>
//= <flow aggregate='3' src='1.0.0.1' sport='10' dst='1.0.0.1' dport='9' begin='4.000000000' duration='0.000000000'>
//=   <stream dir='0' packets='1' /><stream dir='1' packets='0' />
//= </flow>
//= <flow aggregate='2' src='1.0.0.1' sport='10' dst='2.0.0.2' dport='20' begin='2.000000000' duration='0.000000000'>
//=   <stream dir='0' packets='1' /><stream dir='1' packets='0' />
//= </flow>
//= <flow aggregate='1' src='2.0.0.2' sport='20' dst='1.0.0.1' dport='10' begin='1.000000000' duration='2.000000000'>
//=   <stream dir='0' packets='2' /><stream dir='1' packets='0' />
//= </flow>
//= </trace>
