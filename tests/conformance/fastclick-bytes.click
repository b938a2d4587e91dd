// FastClick's elements for packets' bytes.
InfiniteSource(DATA abcdefgh, LIMIT 1) -> MoveData(0, 4, 2) -> MoveData(6, 0, 4) -> MoveData(9, 0, 4, GROW false) -> Print(M, CONTENTS ASCII) -> Discard;
InfiniteSource(DATA abcd, LIMIT 1) -> Paint(65) -> StoreAnno(1) -> StoreAnno(4) -> Print(A, CONTENTS ASCII) -> Discard;
InfiniteSource(DATA "GET / HTTP", LIMIT 1) -> p :: Paint2(0) -> s :: Search(" ") -> Print(S, CONTENTS ASCII) -> UnstripAnno -> Print(U, CONTENTS ASCII)
  -> t :: Search(HTTP, STRIP_AFTER false, SET_ANNO false) -> Print(T, CONTENTS ASCII) -> v :: Search(" "); v[0] -> Discard; v[1] -> Print(V, CONTENTS ASCII) -> Discard;
InfiniteSource(DATA abcdefgh, LIMIT 1) -> TruncateFCS -> Print(F, CONTENTS ASCII) -> Pad -> Print(P) -> d :: Duplicate(2, DATA_ONLY false); d[0] -> x :: Discard; d[1] -> y :: Discard;
Script(wait 1, stop);
//= M:   10 |  efcdefef cd
//= A:    4 |  aAcd
//= S:    6 |  / HTTP
//= U:   10 |  GET / HT TP
//= T:    4 |  HTTP
//= V:    4 |  HTTP
//= F:    4 |  abcd
//= P:    8 | 61626364 00000000
//? p.color
//= 0
//? x.count
//= 1
//? y.count
//= 1
