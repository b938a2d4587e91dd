// With probability 1 every bit changes.
InfiniteSource(DATA \<00ff 3c>, LIMIT 1) -> t :: Tee(3);
t[0] -> RandomBitErrors(1) -> Print(flip) -> Discard;
t[1] -> RandomBitErrors(1, set) -> Print(set) -> Discard;
t[2] -> e :: RandomBitErrors(1, clear, false) -> Print(off) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= flip:    3 | ff00c3
//= set:    3 | ffffff
//= off:    3 | 00ff3c
//? e.error_kind
//= clear
