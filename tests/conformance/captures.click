// What is written to a capture file is read from it again: bytes, times, and the length before cutting.
InfiniteSource(DATA \<0a0b0c0d 0e0f>, LIMIT 2, STOP true) -> SetTimestamp(7.25) -> d :: ToDump($DIR/x.pcap, SNAPLEN 4);
//? d.count
//= 2
//! then
d :: FromDump($DIR/x.pcap, STOP true) -> Print(read, TIMESTAMP true) -> ToIPSummaryDump(-, FIELDS timestamp wire_len payload_md5_hex, HEADER false);
//= read: 7.250000:    4 | 0a0b0c0d
//= read: 7.250000:    4 | 0a0b0c0d
//? d.count
//= 2
//? d.encap
//= ETHER
