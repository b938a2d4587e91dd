// Timers that say when they expire, are moved and forgotten.
a :: TimerTest(DELAY 0.01);
b :: TimerTest(DELAY 2);
c :: TimerTest(DELAY 3, SCHEDULED false);
Script(wait 1, write b.schedule_after 4, write c.scheduled true, write a.schedule_after 60, write a.unschedule, wait 5, stop);
//= 1000000000.010000: a :: TimerTest fired
//= 1000000001.000000: c :: TimerTest fired
//= 1000000005.000000: b :: TimerTest fired
//? b.expiry
//= 1000000005.000000
//? a.scheduled
//= false
