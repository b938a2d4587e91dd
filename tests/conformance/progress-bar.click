// Nothing is drawn where there is no terminal; it ends when it is told to.
RatedSource(RATE 100, LIMIT 200) -> c :: Counter -> Discard;
p :: ProgressBar(c.count, BANNER now);
Script(wait 3, write p.mark_done, wait 1, stop);
//? p.active
//= false
//? p.banner
//= now
