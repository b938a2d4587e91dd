// Simulated time is not blocked.
b :: BlockThread;
Script(write b.block 1000000, print "on", stop);
//= on
