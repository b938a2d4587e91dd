// What leaves an element along context arrows goes to the first that takes it: an UDPIn takes UDP packets only.
FromIPSummaryDump($DIR/in, CHECKSUM true) -> CTXManager -> in :: IPIn;
in ~> Null -> UDPIn -> FlowCounter -> u :: Counter -> UDPOut -> Discard;
in ~> o :: Counter -> StoreData(10, \<abcd>) -> t :: Tee(3);
t[0] -> IPOut -> CheckIPHeader -> IPPrint(new, TIMESTAMP false) -> Discard;
t[1] -> IPOut(true) -> i :: CheckIPHeader -> Discard; i[1] -> kept :: Counter -> Discard;
t[2] -> IPOut(CHECKSUM false) -> j :: CheckIPHeader -> Discard; j[1] -> kept;
// An arrow with a name brings the element.
InfiniteSource(LENGTH 20, LIMIT 2) -> one :: UDPIn; one -> Discard; InfiniteSource(LENGTH 3, LIMIT 4) -> two :: IPIn -> three :: IPOut -> Discard;
InfiniteSource(DATA \<4500001c 00000000 40110000 01000001 02000002 00010035 00080000>, LIMIT 5) -> MarkIPHeader -> k :: Null ~udp> l :: Counter -> Discard;
k ~> Discard; Script(wait 1, stop);
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 2 2.0.0.2 53 T S 0
//< in 1.0.0.1 3 2.0.0.2 53 U - 8
//= new: 1.0.0.1.2 > 2.0.0.2.53: S 0:1(1,40,40) win 0
//= i: IP header check failed: bad IP checksum
//= j: IP header check failed: bad IP checksum
//? u.count
//= 2
//? o.count
//= 1
//? kept.count
//= 2
//? one.drop_reasons
//= 2	not UDP
//? two.drop_reasons
//= 4	no IP header
//? l.count
//= 5
