// Records tell their link type and length on the wire; padding is no part of them.
s :: InfiniteSource(DATA \<00000080 09000000 02 00 0038 0000 0026 0000 020000000002 020000000001 0800 45000014 00000000 40110000 0a000001 0a000002 00000000
  00000000 0a000000 01 00 0028 0000 00c8 0f000800 45000014 00000000 40110000 0a000003 0a000004
  00000000 0b000000 01 00 0018 0000 0008 0f008600 00000000>, ACTIVE false) -> Discard;
Script(printn >$DIR/a.erf $(s.data), stop);
//! then
d :: FromDAGDump($DIR/a.erf, STOP true) -> Print(a, TIMESTAMP true) -> ToIPSummaryDump($DIR/s, HEADER false, FIELDS wire_len payload_len);
//= a: 9.500000:   34 | 02000000 00020200 00000001 08004500 00140000 00004011
//= a: 10.000000:   24 | 0f000800 45000014 00000000 40110000 0a000003 0a000004
//= a: 11.000000:    8 | 0f008600 00000000
//? d.encap
//= HDLC
//? d.filepos
//= 120
//! then
Script(printn $(cat $DIR/s), stop);
//= 34 34
//= 24 200
//= 8 8
//! then
d :: FromDAGDump($DIR/a.erf, STOP true, FORCE_IP true, START_AFTER 0.4) -> ToIPSummaryDump($DIR/t, HEADER false, FIELDS timestamp ip_src); d[1] -> Print(c) -> Discard;
//= c:    8 | 0f008600 00000000
//! then
Script(printn $(cat $DIR/t), stop);
//= 10.000000 10.0.0.3
//! then
// What ENCAP says holds for cells of 64 bytes, which do not say it themselves. The rest is too short for one.
d :: FromDAGDump($DIR/a.erf, STOP true, ENCAP ETHER) -> c :: Counter -> Discard;
//= d :: FromDAGDump: $DIR/a.erf: record 2, byte 64: the capture ends in the middle; capture or copy it again, or cut the incomplete end off; good records before it: 1
//? c.byte_count
//= 54
//! then
FromDAGDump($DIR/a.erf, ENCAP FDDI) -> Discard;
//! error bad encapsulation type
