// Rules and routes of the traffic: as many as are wanted, with shorter prefixes where that takes it.
FromIPSummaryDump($DIR/in, STOP true) -> a :: GenerateIPFilterRules(10, KEEP_SPORT true, OUT_FILE $DIR/out) -> b :: GenerateIPFilter(2, PATTERN_TYPE ipclassifier, KEEP_DADDR false)
  -> c :: GenerateIPLookupRules(3, NB_RULES 1, OUT_FILE $DIR/routes) -> d :: GenerateIPLookup(OUT_PORT 1) -> Discard;
//< in !data src sport dst dport proto
//< in 1.0.0.1 5 2.0.0.2 53 U
//< in 1.0.0.1 5 2.0.0.2 53 U
//< in 1.0.0.2 6 2.0.0.3 53 U
//< in 1.0.0.3 6 2.0.0.2 53 T
Script(TYPE ACTIVE, wait 1, print $(a.dump_to_file)$(c.dump_to_file));
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
