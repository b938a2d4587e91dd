// What flows carry: as text, and a check of it. One is an older name of the other.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> CTXManager -> CTXASCIIPrint -> FlowASCIIPrint(ACTIVE false) -> c :: CTXCRC -> d :: FlowCRC -> n :: Counter -> Discard;
d[1] -> Discard;
//! workers 1
//< in !data src sport dst dport proto payload
//< in 1.0.0.1 1 2.0.0.2 53 U "12345"
//< in 1.0.0.1 2 2.0.0.2 53 U "a\<00>b"
//< in 1.0.0.1 3 2.0.0.2 53 U ""
//< in 1.0.0.1 1 2.0.0.2 53 U "6789"
//= Content of the stream:
//= 12345
//= Content of the stream:
//= a.b
//= Content of the stream:
//= 6789
//? c.crc
//= 0376e6e7
//? d.crc
//= 0376e6e7
//? n.count
//= 4
//! then
Idle -> CTXManager -> c :: CTXCRC -> Discard; Script(stop);
//? c.crc
//! then
Idle -> CTXCRC(1) -> Discard;
//! error too many arguments
