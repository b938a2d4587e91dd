// An IPsec tunnel: packets between two sites travel encrypted between their gateways. Hosts in between can neither read nor change them, nor send them again.
//
//   clique run conf/esp-tunnel.click
//
// Keys belong into files that others cannot read (KEYFILE); each direction needs one of its own.
define($SPI 0x1001, $KEY "\<9f3ac1d2 77e04b15 8c6d2e90 a1b45f37 5be0c284>");

FastUDPSource(0, 3, 60, 0:0:0:0:0:1, 10.0.1.1, 1000, 0:0:0:0:0:2, 10.0.2.1, 2000) -> Unqueue -> Strip(14) -> CheckIPHeader
  -> ESPEncap($SPI, $KEY) -> IPEncap(esp, 192.0.2.1, 198.51.100.1)
  -> tunnel :: Counter
  // An attacker copies all packets and sends them a second time.
  -> replay :: Tee -> gateway :: CheckIPHeader;
replay[1] -> gateway;

gateway -> IPClassifier(ip proto esp and dst host 198.51.100.1)
  -> StripIPHeader -> decap :: ESPDecap($SPI, $KEY) -> CheckIPHeader
  -> IPPrint(out, TIMESTAMP false)
  -> Counter(COUNT_CALL 3 stop) -> Discard;
decap[1] -> refused :: Counter -> Discard;

//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//? tunnel.byte_count
//= 300
