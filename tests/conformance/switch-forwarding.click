// Which ports a switch's frames may go to.
//! workers 1
s :: EtherSwitch; Idle -> [1] s; Idle -> [2] s;
InfiniteSource(DATA \<000000000001 000000000002 0800>, LIMIT 1) -> [0] s;
b :: InfiniteSource(DATA \<000000000002 000000000001 0800>, LIMIT 1, ACTIVE false) -> [2] s;
s[0] -> Print(zero, 0) -> Discard; s[1] -> Print(one, 0) -> Discard; s[2] -> Print(two, 0) -> Discard;
Script(TYPE ACTIVE, writeq s.remove_port_forwarding "0 1, 2 0", wait 1, write b.active true, wait 1,
  printn s.port_forwarding, writeq s.remove_port_forwarding "0 7", print $?, write s.reset_port_forwarding, printn s.port_forwarding, stop);
//= one:   14
//= two:   14
//= weight: 1	0: 001
//= weight: 2	1: 101
//= weight: 1	2: 010
//= While executing 'Script@12 :: Script':
//=   While calling 's.remove_port_forwarding 0 7':
//=     invalid port forwarding
//= -22
//= weight: 2	0: 011
//= weight: 2	1: 101
//= weight: 2	2: 110
