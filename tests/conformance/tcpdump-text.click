// Packets are made of the lines that tcpdump prints.
FromTcpdump($DIR/trace.txt, STOP true, CHECKSUM true) -> CheckIPHeader -> IPPrint(t) -> c :: Counter -> Discard;
//< trace.txt 1000.5 1.0.0.1.10 > 2.0.0.2.80: S 100:100(0) win 5840
//< trace.txt 1001.25 1.0.0.1.53 > 2.0.0.2.53: udp 4
//= t: 1000.500000: 1.0.0.1.10 > 2.0.0.2.80: S 100:101(1,40,40) win 5840
//= t: 1001.250000: 1.0.0.1.53 > 2.0.0.2.53: udp 12
//? c.count
//= 2
//! then
// A first line that is no packet is suspicious. Packets of other protocols than TCP and UDP end with the IP header.
FromTcpdump($DIR/odd.txt, STOP true) -> Print(o, 2) -> Discard;
//< odd.txt # comment
//< odd.txt 1000.9 1.0.0.1 > 2.0.0.2: icmp: echo request
//= $DIR/odd.txt: warning: first line suspicious; is this a tcpdump output file?
//= o:   20 | 4500
