// A capture, and the count of it, go on with the next configuration, though that cuts packets elsewhere; not if packets begin otherwise.
InfiniteSource(DATA abcdefgh, LIMIT 1) -> SetTimestamp(1) -> t :: Tee;
t[0] -> d :: ToDump($DIR/one); t[1] -> e :: ToDump($DIR/two);
Script(wait 0.1, stop);
//! swap
InfiniteSource(DATA ABCDEFGH, LIMIT 1) -> SetTimestamp(2) -> t :: Tee;
t[0] -> d :: ToDump($DIR/one, SNAPLEN 4); t[1] -> e :: ToDump($DIR/two, ENCAP NULL);
Script(wait 0.1, print d.count, stop);
//= 2
//! then
FromDump($DIR/one, STOP true) -> Print(one) -> Discard;
//= one:    8 | 61626364 65666768
//= one:    4 | 41424344
//! then
FromDump($DIR/two, STOP true) -> Print(two) -> Discard;
//= two:    8 | 41424344 45464748
