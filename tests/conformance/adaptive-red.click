// Thresholds lie a half around the target.
InfiniteSource(LIMIT 10) -> r :: AdaptiveRED(TARGET 40, MAX_P 0.1, STABILITY 0) -> q :: Queue -> Idle; Script(wait 0.1, stop);
//? r.min_thresh
//= 20
//? r.max_thresh
//= 60
//? r.max_p
//= 0.1
//? r.drops
//= 0
