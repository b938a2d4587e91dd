// Bytes 1 and 2 of a packet are written into the next one.
c :: Clipboard(1/2);
InfiniteSource(DATA abcd, LIMIT 1, END_CALL two.active true) -> [0] c [0] -> Print(one) -> Discard;
two :: InfiniteSource(DATA wxyz, LIMIT 1, ACTIVE false, STOP true) -> [1] c [1] -> Print(two) -> Discard;
//= one:    4 | 61626364
//= two:    4 | 7762637a
