// The sum and the average of what several elements say, and what is written to all of them.
InfiniteSource(LENGTH 10, LIMIT 3) -> a :: AverageCounter -> Discard;
elementclass Other { InfiniteSource(LENGTH 20, LIMIT 4) -> c :: AverageCounter -> Discard }
o :: Other; h :: HandlerAggregate(ELEMENT a, ELEMENT o/c);
Script(wait 1, print $(h.add count) $(h.avg byte_count) $(h.add link_count), write h.write reset, print $(h.add count), write w.write limit 7, print $(w.add limit), stop);
p :: InfiniteSource(LIMIT 1) -> Discard; q :: InfiniteSource(LIMIT 2) -> Discard; w :: HandlerAggregate(ELEMENT p, ELEMENT q);
//= 7 55 2224
//= 0
//= 14
//? o/c.bit_count
//= 0
