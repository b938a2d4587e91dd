// The first application of RouteBricks (section 5.1), minimal forwarding: what arrives at one interface leaves at the other. Nothing of it is looked at.
//
//   clique run conf/routebricks/minimal.click IN=eth0 OUT=eth1
//   clique run conf/routebricks/minimal.click -h sent.count
//
// IN and OUT are interfaces, or `MEMORY N` both: N frames of 60 octets are made in memory, and counted.
// METHOD is LINUX for packet sockets or XDP for AF_XDP.
define($IN MEMORY 1000, $OUT MEMORY 1000, $METHOD LINUX);

elementclass From { MEMORY $packets |
  InfiniteSource(DATA \<00000000 00020000 00000001 0800 4500002e 00000000 401163bc 0a000102 0a000202 03e807d0 001a0000 00000000 00000000 00000000 00000000 0000>, LIMIT $packets, BURST 32, STOP true) -> output
|| $device | FromDevice($device, METHOD $METHOD, SNIFFER false, PROMISC true) -> output }
elementclass To { MEMORY $packets | input -> Discard || $device | input -> ToDevice($device, METHOD $METHOD) }

From($IN) -> sent :: Counter -> To($OUT);

//? sent.count
//= 1000
