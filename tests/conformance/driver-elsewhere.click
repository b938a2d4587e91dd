// A source on another worker asks the driver to stop while the script that steers it has only just begun to wait for that.
s :: InfiniteSource(LIMIT 3, STOP true, ACTIVE false) -> c :: Counter -> Discard; StaticThreadSched(s 1);
DriverManager(print "begun", write s.active true, pause, print $(c.count), write s.reset, pause, print $(c.count));
//= begun
//= 3
//= 6
