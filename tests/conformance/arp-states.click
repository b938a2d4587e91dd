// A neighbour's life: asked for three times, answered, stale, probed, gone; what waits for it leaves by the third output.
q :: ARPQuerier(10.0.0.1, 1:1:1:1:1:1, PROBES 3, DELAY 1, POLL_TIMEOUT 10, TIMEOUT 60);
p :: InfiniteSource(DATA \<45>, LIMIT 1, ACTIVE false) -> SetIPAddress(10.0.0.2) -> [0] q;
r :: InfiniteSource(DATA \<01010101 01010202 02020202 08060001 08000604 00020202 02020202 0a000002 01010101 0101 0a000001>,
  LIMIT 1, ACTIVE false) -> [1] q;
q[0] -> Print(sent) -> Discard;
q[1] -> MarkIPHeader(14) -> ARPPrint(asked, TIMESTAMP false) -> Discard;
q[2] -> Print(unreachable) -> Discard;
Script(write p.active true, wait 3.5, print $(q.neighbours),
  write p.reset, write p.active true, wait 0.5, write r.active true, wait 0.5, print $(q.neighbours),
  wait 10, print $(q.neighbours),
  write p.reset, write p.active true, wait 0.5, print $(q.neighbours),
  wait 1, print $(q.neighbours), wait 3, print $(q.neighbours), print $(q.stats), stop);
//= asked: arp who-has 10.0.0.2 tell 10.0.0.1
//= asked: arp who-has 10.0.0.2 tell 10.0.0.1
//= asked: arp who-has 10.0.0.2 tell 10.0.0.1
//= unreachable:    1 | 45
//= 10.0.0.2 - failed 3.500
//= asked: arp who-has 10.0.0.2 tell 10.0.0.1
//= sent:   15 | 02020202 02020101 01010101 080045
//= 10.0.0.2 02-02-02-02-02-02 reachable 0.500
//= 10.0.0.2 02-02-02-02-02-02 stale 10.500
//= sent:   15 | 02020202 02020101 01010101 080045
//= 10.0.0.2 02-02-02-02-02-02 delay 11.000
//= asked: arp who-has 10.0.0.2 tell 10.0.0.1
//= 10.0.0.2 02-02-02-02-02-02 probe 12.000
//= asked: arp who-has 10.0.0.2 tell 10.0.0.1
//= asked: arp who-has 10.0.0.2 tell 10.0.0.1
//= 10.0.0.2 - failed 15.000
//= 1 packets killed
//= 7 ARP queries sent
