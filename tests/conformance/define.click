// Configuration variables, in and out of braces.
define($n 5, $name here);
InfiniteSource(LIMIT $n) -> c :: Counter -> Discard;
Script(print "$name ${n}0", wait 0.1, stop);
//= here 50
//? c.count
//= 5
