// A script watches a counter twice a second and ends the run after three looks.
//
//   clique run --simtime conf/script.click

RatedSource(RATE 1000) -> c :: Counter -> Discard;

Script(set n 0,
       label again,
       wait 0.5,
       set n $(add $n 1),
       print "look $n: $(gt $(c.count) $(mul $n 490))",
       goto again $(lt $n 3),
       stop);

//= look 1: true
//= look 2: true
//= look 3: true
