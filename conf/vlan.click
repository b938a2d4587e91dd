// A trunk: frames of two ports are tagged with their VLAN, travel over one line, and are sorted by tag at its end.
//
//   clique run conf/vlan.click -h first.count -h second.count

a :: InfiniteSource(DATA \<020000000002 020000000001 0800 aa>, LIMIT 30) -> VLANEncap(VLAN_ID 10) -> trunk :: Null;
b :: InfiniteSource(DATA \<020000000002 020000000003 0800 bb>, LIMIT 20) -> VLANEncap(VLAN_ID 20, VLAN_PCP 5) -> trunk;

trunk -> all :: Counter(COUNT_CALL 50 stop) -> c :: Classifier(12/8100 14/000a%0fff, 12/8100 14/0014%0fff, -);
c[0] -> VLANDecap -> first :: Counter -> Discard;
c[1] -> VLANDecap -> second :: Counter -> Discard;
c[2] -> Discard;

//? first.count
//= 30
//? first.byte_count
//= 450
//? second.count
//= 20
