// The summary of flows names the file that packets come from, and where in it each flow begins.
//< in.txt !data timestamp ip_src sport ip_dst dport ip_proto payload_len
//< in.txt 1.5 1.0.0.1 10 2.0.0.2 20 U 8
//< in.txt 1.6 1.0.0.1 11 2.0.0.2 20 U 8
//< in.txt 1.7 2.0.0.2 20 1.0.0.1 10 U 8
//< in.txt 9.0 1.0.0.1 12 2.0.0.2 20 U 8
FromIPSummaryDump($DIR/in.txt, STOP true, CHECKSUM true) -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> ToDump($DIR/in.pcap);
//! then
d :: FromDump($DIR/in.pcap, STOP true, FORCE_IP true) -> AggregateIPFlows(TRACEINFO $DIR/trace, SOURCE d) -> Discard;
//! then
f :: FromIPSummaryDump($DIR/in.txt, STOP true) -> TimeFilter(START 5) -> AggregateIPFlows(SOURCE f, TRACEINFO $DIR/other) -> Discard;
//! then
Script(print $(cat $DIR/trace), print $(cat $DIR/other), stop);
//= <?xml version='1.0' standalone='yes'?>
//= <trace file='$DIR/in.pcap'>
//= <flow aggregate='3' src='1.0.0.1' sport='12' dst='2.0.0.2' dport='20' begin='9.000000000' duration='0.000000000' filepos='222'>
//=   <stream dir='0' packets='1' /><stream dir='1' packets='0' />
//= </flow>
//= <flow aggregate='1' src='1.0.0.1' sport='10' dst='2.0.0.2' dport='20' begin='1.500000000' duration='0.200000000' filepos='24'>
//=   <stream dir='0' packets='1' /><stream dir='1' packets='1' />
//= </flow>
//= <flow aggregate='2' src='1.0.0.1' sport='11' dst='2.0.0.2' dport='20' begin='1.600000000' duration='0.000000000' filepos='90'>
//=   <stream dir='0' packets='1' /><stream dir='1' packets='0' />
//= </flow>
//= </trace>
//= <?xml version='1.0' standalone='yes'?>
//= <trace file='$DIR/in.txt'>
//= <flow aggregate='1' src='1.0.0.1' sport='12' dst='2.0.0.2' dport='20' begin='9.000000000' duration='0.000000000'>
//=   <stream dir='0' packets='1' /><stream dir='1' packets='0' />
//= </flow>
//= </trace>
