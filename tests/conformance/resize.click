// Bytes come and go at both ends; those that were stripped come back, the others are zero.
InfiniteSource(DATA abcdef, LIMIT 1) -> t :: Tee(4);
t[0] -> Resize(-2, 3) -> Print(a) -> Discard; t[1] -> Strip(4) -> r :: Resize(HEAD 1, TAIL -1) -> Print(b) -> Discard;
t[2] -> Resize -> Print(c) -> Discard; t[3] -> Resize(-100, 2) -> Print(d) -> Discard;
e :: InfiniteSource(DATA abcdef, LIMIT 1, ACTIVE false) -> s :: Resize(0, 1) -> Print(e) -> Discard;
Script(wait 1, print $(r.head) $(r.tail), write s.head -3, write s.tail -2, write e.active true, wait 1, stop);
//= a:    7 | 63646566 000000
//= b:    2 | 6465
//= c:    6 | 61626364 6566
//= d:    2 | 0000
//= 1 -1
//= e:    1 | 64
