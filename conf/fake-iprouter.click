// The IP router of the SOSP paper on Click, with a source of 64-byte UDP packets instead of devices: what a packet
// goes through between two Ethernet interfaces, and nothing else. Used to measure nanoseconds a packet.
//
//   clique run -t conf/fake-iprouter.click BURST=32 LIMIT=10000000

define($BURST 32, $LIMIT 1000000);

// An Ethernet frame from 2.0.0.2 to 1.0.0.2: UDP with 12 bytes of payload, padded to 64 bytes.
src :: InfiniteSource(DATA \<
  // Ethernet header
  00 00 c0 ae 67 ef  00 00 00 00 00 00  08 00
  // IP header
  45 00 00 28  00 00 00 00  40 11 77 c2  02 00 00 02  01 00 00 02
  // UDP header
  13 69 13 69  00 14 00 00
  // payload and padding
  55 44 50 20 70 61 63 6b 65 74 21 0a  00 00 00 00 00 00 00 00 00 00>,
  LIMIT $LIMIT, BURST $BURST, STOP true);

src -> c0 :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
c0[0] -> Discard;
c0[1] -> Discard;
c0[3] -> Discard;

c0[2]
  -> Paint(2)
  -> Strip(14)
  -> CheckIPHeader(INTERFACES 1.0.0.1/255.0.0.0 2.0.0.1/255.0.0.0)
  -> GetIPAddress(16)
  -> rt :: StaticIPLookup(
      1.0.0.1/32 0,
      2.0.0.1/32 0,
      1.255.255.255/32 0,
      1.0.0.0/32 0,
      2.255.255.255/32 0,
      2.0.0.0/32 0,
      1.0.0.0/8 1,
      2.0.0.0/8 2,
      255.255.255.255/32 0.0.0.0 0,
      0.0.0.0/32 0);

rt[0] -> Discard;   // to the router itself
rt[2] -> Discard;   // back out of the interface that it came from

rt[1]
  -> DropBroadcasts
  -> cp :: PaintTee(1)
  -> gio :: IPGWOptions(1.0.0.1)
  -> FixIPSrc(1.0.0.1)
  -> dt :: DecIPTTL
  -> fr :: IPFragmenter(300)
  -> EtherEncap(0x0800, 00:00:c0:ae:67:ef, 00:00:c0:4f:71:ef)
  -> q :: Queue
  -> d :: Discard(BURST $BURST);

cp[1] -> Discard;
gio[1] -> ICMPError(1.0.0.1, parameterproblem) -> Discard;
dt[1] -> ICMPError(1.0.0.1, timeexceeded) -> Discard;
fr[1] -> ICMPError(1.0.0.1, unreachable, needfrag) -> Discard;
