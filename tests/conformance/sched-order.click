//! workers 1
// Three tasks with one, two and three tickets; and a packet that is not what it should be.
s1 :: SchedOrderTest(1, SIZE 24, STOP true);
s2 :: SchedOrderTest(2, SIZE 24);
s3 :: SchedOrderTest(3, SIZE 24);
ScheduleInfo(s1 1, s2 2, s3 3);
InfiniteSource(DATA abc, LIMIT 1) -> c :: CheckPacket(LENGTH_GE 4, DATA abc) -> Discard;
DriverManager(pause, set n $(s1.order), stop);
//= c :: CheckPacket: bad length 3 (wanted > 3)
//? c.drop_reasons
//= 1	checked
