// Requests lose what they say of encodings, whatever packets it is in, and are of HTTP/1.0; answers say how long they are after a word was removed from their content.
FromIPSummaryDump($DIR/up, CHECKSUM true, STOP false) -> in :: TCPIn(RETURNNAME back) -> HTTPIn(HTTP10 true, NOENC true) -> HTTPOut -> TCPOut
  -> o1 :: ToIPSummaryDump($DIR/o1, FIELDS tcp_seq payload, HEADER false);
down :: FromIPSummaryDump($DIR/down, CHECKSUM true, STOP false, ACTIVE false) -> back :: TCPIn(RETURNNAME in) -> h :: HTTPIn
  -> WordMatcher(WORD length, WORD bad, MODE REMOVE, ALL true) -> HTTPOut -> TCPOut -> o2 :: ToIPSummaryDump($DIR/o2, FIELDS tcp_seq payload, HEADER false);
s :: Script(wait 1, write down.active true, wait 1, write o1.flush, print s.cat $DIR/o1, write o2.flush, print s.cat $DIR/o2, stop);
//< up !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< up 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< up 1.0.0.1 1 2.0.0.2 80 T A 100 500 "GET / HTTP/1.1\r\nAccept-Enc"
//< up 1.0.0.1 1 2.0.0.2 80 T A 126 500 "oding: gzip\r\nHost: x\r\n\r\n"
//< up 1.0.0.1 1 2.0.0.2 80 T A 150 500 "HEAD / HTTP/1.1\r\n\r\n"
//= 99 ""
//= 100 "GET / HTTP/1.0\r\n"
//= 116 "Host: x\r\n\r\n"
//= 127 "HEAD / HTTP/1.0\r\n\r\n"
//< down !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< down 2.0.0.2 80 1.0.0.1 1 T SA 499 100 ""
//< down 2.0.0.2 80 1.0.0.1 1 T A 500 146 "HTTP/1.1 200 OK\r\nContent-length: 12\r\n\r\nnot ba"
//< down 2.0.0.2 80 1.0.0.1 1 T A 545 146 "d enouHTTP/1.1 200 OK\r\nContent-length: 12\r\n\r\n"
//= 499 ""
//= 500 "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
//= 538 "not "
//= 542 " enou"
//= 547 "HTTP/1.1 200 OK\r\nContent-length: 12\r\n\r\n"
//? h.messages
//= 2
//! then
// What is longer than BUFFER leaves in chunks, what came in chunks does so too, and what is of HTTP/1.0 gets spaces.
FromIPSummaryDump($DIR/long, CHECKSUM true, STOP false) -> back :: TCPIn -> HTTPIn(BUFFER 4)
  -> WordMatcher(WORD bad, MODE REMOVE, ALL true) -> HTTPOut -> TCPOut -> o1 :: ToIPSummaryDump($DIR/o1, FIELDS payload, HEADER false);
Idle -> TCPIn -> TCPOut -> Discard;
s :: Script(wait 3, write o1.flush, print s.cat $DIR/o1, stop);
//< long !data src sport dst dport proto tcp_flags tcp_seq payload
//< long 2.0.0.2 80 1.0.0.1 1 T S 499 ""
//< long 2.0.0.2 80 1.0.0.1 1 T A 500 "HTTP/1.1 200 OK\r\nContent-length: 8\r\nA: b\r\n\r\nnot "
//< long 2.0.0.2 80 1.0.0.1 1 T A 548 "bad."
//< long 2.0.0.2 80 1.0.0.1 1 T A 552 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n.ba\r\n2\r\nd.\r\n0\r\n\r\n"
//< long 2.0.0.2 80 1.0.0.1 1 T A 619 "HTTP/1.0 200 OK\r\nContent-length: 8\r\n\r\nnot bad."
//= ""
//= "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: "
//= "b\r\n\r\n"
//= "4\r\nnot \r\n"
//= "1\r\n.\r\n0\r\n\r\n"
//= "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
//= "1\r\n.\r\n"
//= "1\r\n.\r\n"
//= "0\r\n\r\n"
//= "HTTP/1.0 200 OK\r\nContent-length: 8\r\n\r\n"
//= "not .   "
//! then
// A message that is not whole does not wait for ever, nor does what may begin a word; and what is no HTTP ends the connection.
FromIPSummaryDump($DIR/slow, CHECKSUM true, STOP false) -> back :: TCPIn -> HTTPIn -> WordMatcher(WORD bad, MODE REMOVE, ALL true) -> HTTPOut -> TCPOut
  -> o1 :: ToIPSummaryDump($DIR/o1, FIELDS sport tcp_flags payload, HEADER false);
Idle -> TCPIn -> TCPOut -> Discard;
s :: Script(wait 0.1, write o1.flush, print s.cat $DIR/o1, wait 1, print "then", write o1.flush, print s.cat $DIR/o1, stop);
//< slow !data src sport dst dport proto tcp_flags tcp_seq payload
//< slow 2.0.0.2 80 1.0.0.1 1 T S 499 ""
//< slow 2.0.0.2 80 1.0.0.1 1 T A 500 "HTTP/1.1 200 OK\r\nContent-length: 9\r\n\r\nnot badb"
//< slow 2.0.0.2 81 1.0.0.1 1 T S 499 ""
//< slow 2.0.0.2 81 1.0.0.1 1 T A 500 "220 mail server\r\n"
//= 80 S ""
//= 81 S ""
//= 81 RA ""
//= then
//= 80 S ""
//= 81 S ""
//= 81 RA ""
//= 80 A "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r"
//= 80 A "\n"
//= 80 A "5\r\nnot b\r\n"
//! then
Idle -> TCPIn -> HTTPIn(RESIZE_METHOD fill) -> HTTPOut -> TCPOut -> Discard; Idle -> TCPIn -> TCPOut -> Discard;
//! error When buffering, we do not need a resize method.
//! then
Idle -> TCPIn -> HTTPIn(BUFFER 0, RESIZE_METHOD much) -> HTTPOut -> TCPOut -> Discard; Idle -> TCPIn -> TCPOut -> Discard;
//! error Unknown RESIZE_METHOD
//! then
Idle -> TCPIn -> HTTPOut -> TCPOut -> Discard; Idle -> TCPIn -> TCPOut -> Discard;
//! error Found no or more than 1 HTTPIn element
