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
//! then
// Compressed by bzip2, and without Ethernet headers: FORCE_IP finds the IP packet behind an LLC header.
InfiniteSource(DATA hello, LIMIT 2, STOP true) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 53) -> SetTimestamp(1)
  -> Unstrip(8) -> StoreData(0, \<aaaa0300 00000800>) -> s :: Switch;
s [0] -> ToDump($DIR/x.pcap.bz2, ENCAP ATM); s [1] -> Discard;
//! then
d :: FromDump($DIR/x.pcap.bz2, STOP true, FORCE_IP true) -> IPPrint(found, TIMESTAMP false) -> Discard;
//= found: 10.0.0.1.1000 > 10.0.0.2.53: udp 13
//= found: 10.0.0.1.1000 > 10.0.0.2.53: udp 13
//? d.encap
//= ATM
//! then
FromDump($DIR/x.pcap.bz2, STOP true) -> ToDump($DIR/y.pcap, ENCAP RFC1483);
//! then
d :: FromDump($DIR/y.pcap, STOP true) -> ToDump($DIR/z.pcap, USE_ENCAP_FROM d);
//? d.encap
//= ATM
