// An IPv6 header is put on, printed, marked; too large packets of this source are fragmented, and put together again.
InfiniteSource(DATA \<00>, LENGTH 100, LIMIT 1)
  -> IP6Encap(udp, 2001:db8::1, 2001:db8::2, HLIM 9) -> SetIP6DSCP(46) -> SetIP6ECN(ce)
  -> CheckIP6Header -> DecIP6HLIM -> IP6Print(whole) -> f :: IP6Fragmenter(96)
  -> IP6Print(part, CONTENTS true, NBYTES 4) 
  -> r :: IP6Reassembler -> StripToNetworkHeader -> c :: Counter -> Discard;
Script(wait 1, stop);
//= whole: 2001:db8::1 -> 2001:db8::2 plen 100, next 17, hlim 8
//= part: 2001:db8::1 -> 2001:db8::2 plen 56, next 44, hlim 8
//=   6bb00000 
//= part: 2001:db8::1 -> 2001:db8::2 plen 56, next 44, hlim 8
//=   6bb00000 
//= part: 2001:db8::1 -> 2001:db8::2 plen 12, next 44, hlim 8
//=   6bb00000 
//? f.fragments
//= 3
//? r.stats
//= 3	fragments
//= 1	whole
//= 0	waiting
//= 0	overlap
//= 0	late
//= 0	memory
//= 0	bad
//? c.byte_count
//= 140
