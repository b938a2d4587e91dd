// Cells of 44 bytes: a time, the number of the link, the headers. What had IP options leaves by output 1.
s :: InfiniteSource(DATA \<00000001 03000005 45000030 00000000 40060000 0a000001 0a000002 04000050 00000007 00000009 50020100
  00000002 00000000 46000030 00000000 40060000 0a000001 0a000002 04000050 00000007 00000009 50020100
  00000003 01000000 45000064 00000000 40060000 0a000002 0a000001 00500400 00000009 00000008 50120100>, ACTIVE false) -> Discard;
Script(printn >$DIR/a.tsh $(s.data), printn >$DIR/a.cells $(s.data), stop);
//! then
d :: FromNLANRDump($DIR/a.tsh, STOP true) -> ToIPSummaryDump($DIR/s, HEADER false, FIELDS timestamp paint ip_src sport ip_dst dport tcp_flags ip_len);
d[1] -> Print(options, MAXLENGTH 4) -> Discard;
//= options:   36 | 46000030
//? d.count
//= 2
//? d.encap
//= IP
//? d.packet_filepos
//= 132
//! then
Script(printn $(cat $DIR/s), stop);
//= 1.000005 3 10.0.0.1 1024 10.0.0.2 80 S 48
//= 3.000000 1 10.0.0.2 80 10.0.0.1 1024 SA 100
//! then
// The byte of the link belongs to the time; the range ends before the last cell.
d :: FromNLANRDump($DIR/a.cells, FORMAT FR+, FILEPOS 1, END 19, TIMING true, END_CALL stop) -> Print -> Discard;
//? d.drop_reasons
//= 1	no IP packet
//! then
FromNLANRDump($DIR/a.tsh, FORMAT pcap) -> Discard;
//! error bad FORMAT
//! then
// Cells of 24 bytes have no headers, but what makes some.
s :: InfiniteSource(DATA \<00000001 00000005 0a000001 0a000002 0030 06 12 0400 0050 00000002 00000000 0a000001 0a000002 0030 11 00 0035 0400>, ACTIVE false) -> Discard;
Script(printn >$DIR/a.fr $(s.data), stop);
//! then
FromNLANRDump($DIR/a.fr, STOP true) -> Print(c, MAXLENGTH -1) -> Discard;
//= c:   40 | 45000030 00000000 00060000 0a000001 0a000002 04000050 00000000 00000000 50120000 00000000
//= c:   28 | 45000030 00000000 00110000 0a000001 0a000002 00350400 001c0000
