// Elements that try parts of the program; those of which there is no part do nothing.
BigintTest; ConfParseTest; CryptoTest; ErrorTest; FunctionTest; HashTableTest; NotifierTest; PacketTest; SortTest; TimerTest; TokenBucketTest;
BitvectorTest; BHMTest; CLPTest; DequeTest; HeapTest; JSONTest; JsonTest; ListTest; NeighborhoodTest; QueueYankTest; VectorTest;
SortTest(10, 9, "9 lives", 100, NUMERIC true, OUTPUT true); SortTest(10, 9, 100, REVERSE true, OUTPUT true); SortTest(z, a);
Script(stop);
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= All tests pass!
//= 9
//= 9 lives
//= 10
//= 100
//= 9
//= 100
//= 10
