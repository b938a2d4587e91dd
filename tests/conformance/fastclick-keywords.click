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
//< threads 0 1.0.0.1
