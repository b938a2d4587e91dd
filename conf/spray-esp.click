// A tunnel's packets, protected by several cores although they are one flow, and sent in the order in which they came.
//
//   clique run -j 2 conf/spray-esp.click IN=eth0 OUT=eth1 KEY="KEYFILE there.key" MAC=2:0:0:0:0:1 NEXT=2:0:0:0:0:2
//   clique run -j 2 conf/spray-esp.click -h sent.count -h spray.shares
//
// A flow comes in on one worker, whatever number of queues the interface has. Spray gives batches of it to all workers, and `out` sends them in order; it runs
// on worker 1, so that worker 0, to which a flow in memory comes, does not send, too. `clique check -j 2` shows what runs where.
//
// IN and OUT are interfaces, or `MEMORY N` both: N frames of 60 octets are made in memory, and counted.
// METHOD is LINUX for packet sockets or XDP for AF_XDP. The tunnel is from FROM to TO. MAC is OUT's address, and NEXT that of the only
// neighbour there. The key in here is for trials. The receiver should have a replay window of 1,024 packets (ESPDecap has, by default).
define($IN MEMORY 1000, $OUT MEMORY 1000, $METHOD LINUX, $FROM 192.0.2.1, $TO 192.0.2.2, $MAC 2:0:0:0:0:1, $NEXT 2:0:0:0:0:2,
  $SPI 0x1001, $KEY "\<9f3ac1d2 77e04b15 8c6d2e90 a1b45f37 5be0c284>");

elementclass From { MEMORY $packets |
  InfiniteSource(DATA \<00000000 00020000 00000001 0800 4500002e 00000000 401163bc 0a000102 0a000202 03e807d0 001a0000 00000000 00000000 00000000 00000000 0000>, LIMIT $packets, STOP true) -> output
|| $device | FromDevice($device, METHOD $METHOD, SNIFFER false, PROMISC true) -> output }
elementclass To { MEMORY $packets | input -> Discard || $device | input -> ToDevice($device, METHOD $METHOD) }

// What is no IPv4 is dropped. A way to elsewhere would keep a source in memory from waiting for room.
From($IN) -> Strip(14) -> CheckIPHeader -> spray :: Spray;
spray[1] -> ESPEncap($SPI, $KEY) -> IPEncap(esp, $FROM, $TO) -> EtherEncap(0x0800, $MAC, $NEXT) -> [1]spray;
spray -> out :: Unqueue(32) -> sent :: Counter -> To($OUT);
StaticThreadSched(out 1);

//? sent.count
//= 1000
//? sent.byte_count
//= 114000
//? spray.drops
//= 0
