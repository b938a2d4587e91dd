// What an IPv6 packet goes through between two Ethernet interfaces: checks, a look-up, the hop limit, a known neighbour, a queue.
define($LIMIT 1000);

src :: InfiniteSource(DATA \<
  // Ethernet header
  0000c0ae67ef 000000000000 86dd
  // IPv6 header, UDP header, payload
  6000000000121140 20010db8000100000000000000000002 20010db8000200000000000000000002
  0fa00fa000128511 00000000000000000000>,
  LIMIT $LIMIT, BURST 32, ACTIVE false, STOP true);

src -> kind :: Classifier(12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
kind[0] -> Discard;
kind[1] -> Discard;
kind[3] -> Discard;
kind[2]
  -> DropBroadcasts
  -> Strip(14)
  -> CheckIP6Header(:: ::1 2001:db8:1::1 2001:db8:2::1)
  -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)
  -> GetIP6Address(24)
  -> routes :: IP6Lookup(2001:db8:1::/64 0, 2001:db8:2::/64 1, ::/0 2001:db8:1::fe 0);
routes[0] -> Discard;
routes[1]
  -> options :: IP6GWOptions
  -> hops :: DecIP6HLIM
  -> nd :: IP6NDSolicitor(2001:db8:2::1, 00:00:c0:ae:67:ef)
  -> Queue
  -> d :: Discard(BURST 32);
options[1] -> Discard;
hops[1] -> Discard;
nd[1] -> Discard;
Idle -> [1]nd;

Script(write nd.insert 2001:db8:2::2 00:00:c0:4f:71:ef permanent, write src.active true);
