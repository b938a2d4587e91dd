// One asks for an address, the other answers; then the packet that waited leaves.
q :: ARPQuerier(10.0.0.1, 1:1:1:1:1:1);
InfiniteSource(DATA \<45>, LIMIT 1) -> SetIPAddress(10.0.0.2) -> [0] q;
q[0] -> Print(sent) -> Counter(COUNT_CALL 1 stop) -> Discard;
q[1] -> CheckARPHeader(14) -> ARPPrint(asked, TIMESTAMP false) -> ARPResponder(10.0.0.2 2:2:2:2:2:2) -> Print(answer, 32) -> [1] q;
//= asked: arp who-has 10.0.0.2 tell 10.0.0.1
//= answer:   42 | 01010101 01010202 02020202 08060001 08000604 00020202 02020202 0a000002
//= sent:   15 | 02020202 02020101 01010101 080045
//? q.queries
//= 1
//? q.responses
//= 1
//! then
// No host has the broadcast address.
t :: ARPTable; q :: ARPQuerier(10.0.0.1, 1:1:1:1:1:1); Idle -> [0] q; Idle -> [1] q; q[0], q[1] => Discard, Discard;
Script(write t.insert 10.0.0.2 2:2:2:2:2:2, write t.insert 10.0.0.2 ff:ff:ff:ff:ff:ff, write q.insert 10.0.0.3 ff:ff:ff:ff:ff:ff, stop);
//? t.table
//= 10.0.0.2 0 FF-FF-FF-FF-FF-FF 0.000000
//? q.table
//= 10.0.0.3 0 FF-FF-FF-FF-FF-FF 0.000000
