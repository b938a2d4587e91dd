// Click's tests of its own libraries have nothing to test.
BigintTest; BitvectorTest; BHMTest; ConfParseTest; CryptoTest; DequeTest; FunctionTest; HashTableTest; HeapTest; ListTest;
NeighborhoodTest; PacketTest; SortTest; TokenBucketTest; VectorTest;
InfiniteSource(LIMIT 3, STOP true) -> c :: Counter -> Discard;
//? c.count
//= 3
