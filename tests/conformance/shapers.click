// Rates hold over ten seconds.
elementclass Full { InfiniteSource(LENGTH 100) -> Queue -> output };
Full -> Shaper(100) -> Unqueue -> a :: Counter -> Discard;
Full -> BandwidthShaper(10000) -> Unqueue -> b :: Counter -> Discard;
Full -> BandwidthRatedUnqueue(80kbps) -> c :: Counter -> Discard;
RatedSource(RATE 200) -> s :: RatedSplitter(100); s[0] -> Discard; s[1] -> Discard;
RatedSource(RATE 200) -> t :: BandwidthRatedSplitter(100kbps); t[0] -> Discard; t[1] -> Discard;
Script(wait 10, set ok $(and $(ge $(a.count) 900) $(le $(a.count) 1100)), print "packets" $ok,
  print "bytes" $(and $(ge $(b.count) 900) $(le $(b.count) 1100)), print "bits" $(and $(ge $(c.count) 900) $(le $(c.count) 1100)), stop);
//= packets true
//= bytes true
//= bits true
