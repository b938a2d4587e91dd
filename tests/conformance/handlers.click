// Reading and writing handlers from a script, arithmetic, comparisons, loops.
c :: Counter;
Idle -> c -> Discard;
Script(set i 0, label x, set i $(add $i 1), goto x $(lt $i 5), print "i=$i $(mul 6 7) $(eq 1 1) $(c.count)", stop);
//= i=5 42 true 0
