// A line of NetFlow records is a packet that stands for its flow, or as many packets as the flow had.
//< in # comment
//< in 192.4.1.32|18.26.4.44|-|14|300|5|10932|998006995|998006999|3917|80|-|18|6|3
//< in
//< in ! note
//< in 1.0.0.1 | 2.0.0.2 | x | 20 | 2 | 1 | 60 | 998007000 | 0 | 5 | 53 | x | 0 | 17 | 0 | more
//< in rubbish
f :: FromNetFlowSummaryDump($DIR/in, STOP true) -> ToIPSummaryDump($DIR/out, HEADER false,
  FIELDS ts_sec first_timestamp ip_src sport ip_dst dport ip_proto tcp_flags ip_tos ip_len count paint) -> Discard;
//= $DIR/in:6: bad format
//? f.encap
//= IP
//? f.count
//= 2
//? f.active
//= true
//! then
FromNetFlowSummaryDump($DIR/in, LINK both, MULTIPACKET true, ACTIVE true, ZERO false, STOP true) -> ToIPSummaryDump($DIR/many, HEADER false, FIELDS ts_sec ip_len count paint);
//= $DIR/in:6: bad format
//! then
FromNetFlowSummaryDump($DIR/in, LINK output, STOP true) -> ToIPSummaryDump($DIR/output, HEADER false, FIELDS paint);
//= $DIR/in:6: bad format
//! then
Script(print $(cat $DIR/out), print $(cat $DIR/many), print $(cat $DIR/output), stop);
//= 998006999 998006995.000000 192.4.1.32 3917 18.26.4.44 80 T SA 3 10932 5 14
//= 998007000 998007000.000000 1.0.0.1 5 2.0.0.2 53 U - 0 60 1 20
//= 998006995 2186 1 239
//= 998006996 2186 1 239
//= 998006997 2186 1 239
//= 998006998 2186 1 239
//= 998006999 2188 1 239
//= 998007000 60 1 242
//= 255
//= 2
//! then
// Only TCP and UDP packets have more than an IP header; a line may leave some fields open.
//< some 1.0.0.1|2.0.0.2|-|14|300|1|84|998006995|998006999|0|0|-|0x0|1|6
//< some 1.0.0.1|2.0.0.2|-|-|300|1|84|998006995|998006999|x|53|-|0|17|0
//< some 1.0.0.1|2.0.0.2|-|-|-|-|-|998006995|998006999|x|53|-|0|17|0
FromNetFlowSummaryDump($DIR/some, LINK Output, STOP true, TIMING false)
  -> Print(n, 2) -> ToIPSummaryDump($DIR/told, HEADER false, FIELDS ip_proto ip_ttl ip_tos ip_len sport dport paint);
//= n:   20 | 4506
//= n:   28 | 4500
//= $DIR/some:3: bad format
//! then
Script(print $(cat $DIR/told), stop);
//= I 0 6 84 - - 255
//= U 0 0 84 0 53 255
//! then
//! error 'LINK' should be 'input', 'output', or 'both'
FromNetFlowSummaryDump($DIR/some, LINK all) -> Discard;
