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
//! then
// At their times, whatever the order in which they were set.
a :: TimerTest(DELAY 0.03); b :: TimerTest(DELAY 0.01); c :: TimerTest(DELAY 0.02); Script(wait 1, stop);
//= 1000000000.010000: b :: TimerTest fired
//= 1000000000.020000: c :: TimerTest fired
//= 1000000000.030000: a :: TimerTest fired
//? a.scheduled
//= false
//? a.expiry
//= 1000000000.030000
//! then
// Moved, both ways, and for the same time in the order in which they were set.
a :: TimerTest(DELAY 5); b :: TimerTest(DELAY 0.1);
Script(wait 0.05, write b.schedule_after 1, write a.schedule_after 1, wait 2, stop);
//= 1000000001.050000: b :: TimerTest fired
//= 1000000001.050000: a :: TimerTest fired
//? b.expiry
//= 1000000001.050000
//! then
// Forgotten, and set again.
a :: TimerTest(DELAY 0.1); b :: TimerTest(SCHEDULED false);
Script(write a.unschedule, wait 1, write b.scheduled true, write a.schedule_after 10, wait 1, stop);
//= 1000000001.000000: b :: TimerTest fired
//? a.scheduled
//= true
//? b.scheduled
//= false
