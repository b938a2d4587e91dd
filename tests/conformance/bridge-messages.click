// The messages of switches in words.
//! workers 1
InfiniteSource(DATA \<0180c2000000 020000000001 0026 424203 0000 00 00 80 dead000000000001 00000007 0ead000000000002 0005 0100 1400 0200 0f00>, LIMIT 1)
  -> b :: DebugBridge(eth0) -> Discard;
InfiniteSource(DATA \<0180c2000000 020000000001 0007 424203 0000 00 80>, LIMIT 1) -> b;
Script(wait 1, stop);
//= eth0 CFG  ead000000000002:0005: TCA tc  00000007 -> dead000000000001  a/m/h/d: 100/1400/200/f00
//= eth0 TCM
