// The sum and the average of what several elements say.
InfiniteSource(LENGTH 10, LIMIT 3) -> a :: AverageCounter -> Discard;
elementclass Other { InfiniteSource(LENGTH 20, LIMIT 4) -> c :: AverageCounter -> Discard }
o :: Other; h :: HandlerAggregate(ELEMENT a, ELEMENT o/c);
Script(wait 1, print $(h.add count) $(h.avg byte_count) $(h.add link_count), stop);
//= 7 55 2224
//? o/c.bit_count
//= 640
