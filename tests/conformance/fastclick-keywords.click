// What FastClick's elements take more than Click's.
FromIPSummaryDump(DATA "!data ip_src ip_dst ip_proto\n1.0.0.1 2.0.0.2 47\n", TIMESTAMP false, STOP true)
  -> m :: FlowIPManagerBucket(GROUPS 16, CAPACITY 100, RESERVE 8, DEF_THREAD 2, MARK false, DO_MIGRATION true) -> FlowIPManagerDPDK(100) -> f :: FlowCounter
  -> SetVLANAnno(VLAN_TCI 77) -> Paint(3)
  -> IPPrint(VLAN true, TIMESTAMP false) -> IPPrint(VLAN true, PAINT true, TIMESTAMP false)
  -> ToIPSummaryDump($DIR/threads, FIELDS thread ip_src, HEADER false)
  -> IPAddrRewriter(pattern 5.0.0.5 - 0 0, USE_CACHE true, HANDLE_MIGRATION false) -> Print(MAXLENGTH 0) -> Discard;
//=  VLAN:77: 1.0.0.1 > 2.0.0.2: ip-proto-47
//=  VLAN:77paint 3: 1.0.0.1 > 2.0.0.2: ip-proto-47
//=   20
//? m.count
//= 1
//? f.count
//= 1
//! then
Script(printn $(cat $DIR/threads), stop);
//= 0 1.0.0.1
//! then
// Work takes time, which is measured only if that is wanted.
InfiniteSource(LIMIT 50) -> a :: WorkPackage(1, 5, 20, true, W 100, ANALYSIS true) -> b :: WorkPackage(0, 1, 0, false) -> Discard;
Script(wait 1, print $(gt $(a.cycles) 0) $(gt $(a.cycles_per_work) 0) $(a.cycles_work) $(b.cycles) $(b.cycles_per_work) $(b.cycles_work), stop);
//= true true 5000 0 nan 50
