// Two hosts on one wire find each other: the querier asks for the Ethernet address of 10.0.0.2, the responder answers,
// and the packet that waited meanwhile is sent.
//
//   clique run conf/arp.click

InfiniteSource(DATA \<4500001c 00010000 40110000 0a000001 0a000002 00070007 00080000>, LIMIT 1)
  -> SetIPChecksum -> MarkIPHeader -> GetIPAddress(16)
  -> arpq :: ARPQuerier(10.0.0.1, 02:00:00:00:00:01);

arpq -> wire :: Classifier(12/0806 20/0001, 12/0800, -);
wire[0] -> ARPResponder(10.0.0.2 02:00:00:00:00:02) -> [1] arpq;
wire[1] -> Print(arrived, MAXLENGTH 14) -> Counter(COUNT_CALL 1 stop) -> Discard;
wire[2] -> Discard;

//= arrived:   42 | 02000000 00020200 00000001 0800
