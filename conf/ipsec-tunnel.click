// An IPsec tunnel in Click's own words, for configurations that have them: RadixIPsecLookup knows which packets go into the tunnel and with which
// keys, and an element for each step does the rest. It uses AES and SHA-1 in a way that only Click understands. New configurations should have
// conf/esp-tunnel.click as their model.
//
//   clique run conf/ipsec-tunnel.click
//
// Two routers in one: `left` of the site 10.0.1.0/24, `right` of 10.0.2.0/24. Outputs 0 to 2 of their tables are as RadixIPsecLookup has them: packets
// out of the tunnel, packets into it, packets for the router itself; output 3 leads to the other router, and 4 to the router's own site.
define($SPI 234, $ENCRYPT \<0183A947 1ABE01FF FA04103B B1020304>, $AUTH \<112233EE 55667788 88776655 44332211>);

elementclass Enter { $address |
  input -> IPsecESPEncap -> IPsecAuthHMACSHA1(0) -> IPsecAES(1) -> IPsecEncap(50) -> FixIPSrc($address) -> output }
elementclass Leave { input -> StripIPHeader -> IPsecAES(0) -> IPsecAuthHMACSHA1(1) -> IPsecESPUnencap -> CheckIPHeader -> output }

left :: RadixIPsecLookup(192.0.2.1/32 0, 10.0.2.0/24 192.0.2.2 1 $SPI $ENCRYPT $AUTH 300 64, 192.0.2.2/32 3, 10.0.1.0/24 4);
right :: RadixIPsecLookup(192.0.2.2/32 0, 10.0.1.0/24 192.0.2.1 1 $SPI $ENCRYPT $AUTH 300 64, 192.0.2.1/32 3, 10.0.2.0/24 4);

FastUDPSource(0, 3, 60, 0:0:0:0:0:1, 10.0.1.1, 1000, 0:0:0:0:0:2, 10.0.2.1, 2000) -> Unqueue -> Strip(14) -> CheckIPHeader -> left;

left[0] -> Leave -> left;
left[1] -> Enter(192.0.2.1) -> left;
left[2] -> Discard;
left[3] -> IPPrint(between, TIMESTAMP false) -> tunnel :: Counter -> CheckIPHeader -> right;
left[4] -> Discard;

right[0] -> Leave -> right;
right[1] -> Enter(192.0.2.2) -> right;
right[2] -> Discard;
right[3] -> Discard;
right[4] -> IPPrint(out, TIMESTAMP false) -> Counter(COUNT_CALL 3 stop) -> Discard;

//= between: 192.0.2.1 > 192.0.2.2: ip-proto-50
//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//= between: 192.0.2.1 > 192.0.2.2: ip-proto-50
//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//= between: 192.0.2.1 > 192.0.2.2: ip-proto-50
//= out: 10.0.1.1.1000 > 10.0.2.1.2000: udp 26
//? tunnel.byte_count
//= 288
//? left.table
//= 192.0.2.1/32		-		0
//= 10.0.2.0/24		192.0.2.2	1	spi 234 sent 3 received 0
//= 192.0.2.2/32		-		3
//= 10.0.1.0/24		-		4
