// ARP replies for a list of addresses, after a second and every ten from then on; handlers change the list.
a :: ARPAdvertiser(10.0.0.1, 1:2:3:4:5:6, 10.0.0.2, 7:8:9:a:b:c) -> CheckARPHeader(14) -> ARPPrint(adv, TIMESTAMP false) -> n :: Counter -> Discard;
b :: ARPAdvertiser(CAPACITY 1) -> Discard;
Script(wait 2, write a.insert 10.0.0.3 1:1:1:1:1:1 10.0.0.4 2:2:2:2:2:2, print $(a.table), wait 10,
  write a.delete 10.0.0.1 1:2:3:4:5:6 10.0.0.2 7:8:9:a:b:c, wait 10, write a.clear, wait 10,
  write b.insert 10.0.0.3 1:1:1:1:1:1 10.0.0.4 2:2:2:2:2:2, write b.insert 10.0.0.3 1:1:1:1:1:1 10.0.0.5 2:2:2:2:2:2, stop);
//= adv: arp reply 10.0.0.2 is-at 07-08-09-0A-0B-0C
//= [Dst IP: 10.0.0.1, Dst MAC: 01-02-03-04-05-06] --> [Adv IP: 10.0.0.2, Adv MAC: 07-08-09-0A-0B-0C]
//= [Dst IP: 10.0.0.3, Dst MAC: 01-01-01-01-01-01] --> [Adv IP: 10.0.0.4, Adv MAC: 02-02-02-02-02-02]
//= adv: arp reply 10.0.0.2 is-at 07-08-09-0A-0B-0C
//= adv: arp reply 10.0.0.4 is-at 02-02-02-02-02-02
//= adv: arp reply 10.0.0.4 is-at 02-02-02-02-02-02
//? n.count
//= 4
//? b.count
//= 2
//? b.capacity
//= 2
//! then
// Moments at random, but a thousand a second: within a second all packets have gone.
InfiniteSource(DATA \<000000000008 000000000009 8100 0005 0800 4500001c 00000000 40060000 01000001 02000002 00010035 00000000 00000000 50000000 00000000 6162>, LIMIT 20)
  -> Queue -> u :: EXPUnqueue(1000, SEED 3, BURST 2, BURST_SIZE 5) -> c :: Counter -> m :: AutoMarkIPHeader -> StripTCPHeader -> UnstripTCPHeader -> StripTCPHeader
  -> t :: Classifier(0/6162, -); t[0] -> d :: Counter -> Discard; t[1] -> Discard;
InfiniteSource(LIMIT 3) -> Queue -> v :: EXPUnqueue(1000, ACTIVE false) -> e :: Counter -> Discard;
Script(wait 1, write u.active false, write u.rate 5, stop);
//? c.count
//= 20
//? d.count
//= 20
//? e.count
//= 0
//? u.rate
//= 5
//? u.active
//= false
//! then
// Flows that are pushed, so many in a row, until the limit stops the driver; handlers read and change both.
s :: FastUDPFlows(RATE 0, LIMIT 5, LENGTH 64, SRCETH 0:0:0:0:0:1, SRCIP 1.0.0.1, DSTETH 0:0:0:0:0:2, DSTIP 2.0.0.2, FLOWS 1, FLOWSIZE 1, BURST 2, STOP true) -> a :: Counter -> Discard;
t :: FastTCPFlows(RATE 0, LIMIT -1, LENGTH 64, SRCETH 0:0:0:0:0:1, SRCIP 1.0.0.1, DSTETH 0:0:0:0:0:2, DSTIP 2.0.0.2, FLOWS 1, FLOWSIZE 5, BURST 32, ACTIVE false) -> Unqueue -> Discard;
DriverManager(wait, print $(s.limit) $(s.stop) $(t.limit), write s.stop false, write s.limit 7, wait 1, print $(s.stop) $(a.count), stop);
//= 5 true 4294967295
//= false 7
