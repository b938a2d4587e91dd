//! workers 1
// A source that is told that there is no room waits; a puller that is told that there is nothing sleeps.
InfiniteSource(LIMIT 9) -> full :: NotifierDebug -> n :: UpstreamNotifier(false) -> c :: Counter -> q :: Queue
  -> empty :: NotifierDebug -> u :: Unqueue -> Discard;
InfiniteSource(LIMIT 2) -> never :: NotifierDebug -> Discard;
Script(wait 1, print $(c.count) $(full.signal) $(empty.signal) $(u.scheduled), write n.signal true,
  wait 1, print $(c.count) $(full.signal) $(n.signal), print $(never.signal), stop);
//= 0 full.0/1:0 empty.0/1:0 false
//= 9 full.0/1:1* true
//= busy*
//? u.count
//= 9
