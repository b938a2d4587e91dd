// Rules and routes of the traffic: as many as are wanted, with shorter prefixes where that takes it.
FromIPSummaryDump($DIR/in, STOP true) -> a :: GenerateIPFilterRules(10, KEEP_SPORT true, OUT_FILE $DIR/out) -> b :: GenerateIPFilter(2, PATTERN_TYPE ipclassifier, KEEP_DADDR false)
  -> c :: GenerateIPLookupRules(3, NB_RULES 1, OUT_FILE $DIR/routes) -> d :: GenerateIPLookup(OUT_PORT 1)
  -> e :: GenerateIPOpenFlowRules(4, br0, 3, OUT_PORT 2, OUT_FILE $DIR/of) -> f :: GenerateIPOpenFlowRules(OF_PROTO 0, OF_BRIDGE br1, NB_RULES 1, KEEP_DPORT false)
  -> g :: GenerateIPDPDKFlowRules(0, 3, KEEP_DPORT true) -> i :: GenerateIPDPDKFlowRules(PORT 0, NB_QUEUES 2, POLICY round-robin, KEEP_SADDR false)
  -> GenerateIPFlowDispatcher(0, 3) -> GenerateIPFlowDirector(0, 3) -> Discard;
//< in !data src sport dst dport proto
//< in 1.0.0.1 5 2.0.0.2 53 U
//< in 1.0.0.1 5 2.0.0.2 53 U
//< in 1.0.0.2 6 2.0.0.3 53 U
//< in 1.0.0.3 6 2.0.0.2 53 T
DriverManager(pause, print $(a.dump_to_file)$(c.dump_to_file)$(e.dump_ovs_to_file)$(f.dump_onos_to_file)$(g.queue_imbalance_ratio 1) $(g.queue_imbalance_ratio 3));
//= Currently unsupported feature, coming soon
//= No rules to write to file: rules
//= -32.2580645161 -1
//? a.flows_nb
//= 3
//? a.rules_nb
//= 3
//? a.dump
//= allow src net 1.0.0.1/32 && dst net 2.0.0.2/32 && src port 5 && dst port 53,
//= allow src net 1.0.0.2/32 && dst net 2.0.0.3/32 && src port 6 && dst port 53,
//= allow src net 1.0.0.3/32 && dst net 2.0.0.2/32 && src port 6 && dst port 53,
//? b.dump
//= src net 1.0.0.0/31 && dst port 53,
//= src net 1.0.0.2/31 && dst port 53,
//=
//= # of Rules: 2
//? c.dump
//= 2.0.0.2/31 3,
//? d.dump
//= 2.0.0.2/32 1,
//= 2.0.0.3/32 1,
//? e.dump
//= ovs-ofctl -O OpenFlow14 add-flow br0 "table=3, priority=0, in_port=1, eth_type=2048, udp, nw_src=1.0.0.1/32, nw_dst=2.0.0.2/32, tp_dst=53, actions=output:2"
//= ovs-ofctl -O OpenFlow14 add-flow br0 "table=3, priority=0, in_port=1, eth_type=2048, udp, nw_src=1.0.0.2/32, nw_dst=2.0.0.3/32, tp_dst=53, actions=output:2"
//= ovs-ofctl -O OpenFlow14 add-flow br0 "table=3, priority=0, in_port=1, eth_type=2048, tcp, nw_src=1.0.0.3/32, nw_dst=2.0.0.2/32, tp_dst=53, actions=output:2"
//? f.dump_ovs
//= ovs-ofctl -O OpenFlow10 add-flow br1 "table=0, priority=0, in_port=1, eth_type=2048, udp, nw_src=1.0.0.0/30, nw_dst=2.0.0.0/30, actions=output:in_port"
//? g.dump
//= ingress pattern eth / ipv4 src spec 1.0.0.1 src mask 255.255.255.255 dst spec 2.0.0.2 dst mask 255.255.255.255 / udp dst is 53 /  end actions queue index 2 / count / end
//= ingress pattern eth / ipv4 src spec 1.0.0.2 src mask 255.255.255.255 dst spec 2.0.0.3 dst mask 255.255.255.255 / udp dst is 53 /  end actions queue index 1 / count / end
//= ingress pattern eth / ipv4 src spec 1.0.0.3 src mask 255.255.255.255 dst spec 2.0.0.2 dst mask 255.255.255.255 / tcp dst is 53 /  end actions queue index 0 / count / end
//? g.load
//= NIC queue 00 load:              40 bytes
//= NIC queue 01 load:              28 bytes
//= NIC queue 02 load:              56 bytes
//? g.stats
//= Ideal load per queue: 41 bytes 
//= NIC queue  0 distance from ideal load:              -1 bytes (load imbalance ratio  -3.2258%)
//= NIC queue  1 distance from ideal load:             -13 bytes (load imbalance ratio -32.2581%)
//= NIC queue  2 distance from ideal load:              15 bytes (load imbalance ratio  35.4839%)
//= Average load imbalance ratio: 23.6559%
//? g.avg_imbalance_ratio
//= 23.6559139785
//? i.dump
//= ingress pattern eth / ipv4 dst spec 2.0.0.2 dst mask 255.255.255.255 / end actions queue index 0 / count / end
//= ingress pattern eth / ipv4 dst spec 2.0.0.3 dst mask 255.255.255.255 / end actions queue index 1 / count / end
//? i.rules_nb
//= 2
