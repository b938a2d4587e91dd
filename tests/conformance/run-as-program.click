#!/usr/bin/env -S clique click
// A first line that names the program for a file is none of the configuration, and lines are counted from it.
c :: Classifier(0/ff, -) -> a :: Discard; c[1] -> b :: Discard;
InfiniteSource(DATA \<ff>, LIMIT 2, STOP true) -> c;
//? a.count
//= 2
//? b.count
//= 0
