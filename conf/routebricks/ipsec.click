// The third application of RouteBricks (section 5.1), IPsec: every packet is encrypted with AES-128, here in a tunnel by AES-GCM.
//
//   clique run conf/routebricks/ipsec.click IN=eth0 OUT=eth1 KEY="keyfile there.key" MAC=2:0:0:0:0:1 NEXT=2:0:0:0:0:2
//   clique run conf/routebricks/ipsec.click -h sent.count
//
// IN and OUT are interfaces, or `MEMORY N` both: N frames of 60 octets are made in memory, and counted.
// METHOD is LINUX for packet sockets or XDP for AF_XDP.
// The tunnel is from FROM to TO. MAC is OUT's address, and NEXT that of the only neighbour there. The key in here is for trials.
define($IN MEMORY 1000, $OUT MEMORY 1000, $METHOD LINUX, $FROM 192.0.2.1, $TO 192.0.2.2, $MAC 2:0:0:0:0:1, $NEXT 2:0:0:0:0:2,
  $KEY key 9f3ac1d277e04b158c6d2e90a1b45f375be0c284);

elementclass From { MEMORY $packets |
  InfiniteSource(DATA \<00000000 00020000 00000001 0800 4500002e 00000000 401163bc 0a000102 0a000202 03e807d0 001a0000 00000000 00000000 00000000 00000000 0000>, LIMIT $packets, BURST 32, STOP true) -> output
|| $device | FromDevice($device, METHOD $METHOD, SNIFFER false, PROMISC true) -> output }
elementclass To { MEMORY $packets | input -> Discard || $device | input -> ToDevice($device, METHOD $METHOD) }

From($IN) -> ip :: Classifier(12/0800, -) -> Strip(14) -> CheckIPHeader
  -> ipsec :: IPsec(SA $FROM $TO 0x1001 aes-gcm $KEY, POLICY out 0.0.0.0/0 0.0.0.0/0 protect $FROM $TO)
  -> EtherEncap(0x0800, $MAC, $NEXT) -> sent :: Counter -> To($OUT);
ip[1] -> Discard;
// Nothing comes back.
Idle -> [1]ipsec; ipsec[1] -> Discard;

//? sent.count
//= 1000
//? sent.byte_count
//= 114000
