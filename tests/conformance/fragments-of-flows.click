// Fragments wait for their flow's ports. What still waits leaves when the flows are cleared: a fragment of a known flow by output 0,
// one whose flow never showed by output 1; the packet behind it keeps its place.
//< in !data timestamp ip_id ip_src sport ip_dst dport ip_proto ip_fragoff ip_len
//< in 1.5 1 1.0.0.1 10 2.0.0.2 20 U 0 60
//< in 2 2 1.0.0.1 - 2.0.0.2 - U 40 60
//< in 3 2 1.0.0.1 10 2.0.0.2 20 U 0+ 60
//< in 3.5 3 2.0.0.2 20 1.0.0.1 10 U 0 60
//< in 4 4 3.0.0.3 - 2.0.0.2 - U 40 60
//< in 4.5 5 3.0.0.3 5 2.0.0.2 20 U 0 60
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> f :: AggregateIPFlows -> out :: ToIPSummaryDump($DIR/out, FIELDS ip_id aggregate link, HEADER false);
f[1] -> ToIPSummaryDump($DIR/failed, FIELDS ip_id, HEADER false);
DriverManager(pause, write f.clear, print f.flows, print out.count)
//= 0
//= 5
//! then
Script(print $(cat $DIR/out), print $(cat $DIR/failed), stop);
//= 1 1 0
//= 2 1 0
//= 2 1 0
//= 3 1 1
//= 5 2 0
//= 4
