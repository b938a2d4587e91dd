// A task with no tickets does not run; there are at most 32,768; names that do not exist are passed over, and so is what is no name with a number.
a :: InfiniteSource(LIMIT 1) -> x :: Counter -> Discard; b :: InfiniteSource(LIMIT 1) -> y :: Counter -> Discard;
ScheduleInfo(a 0, b 33, nobody 5, a, b x);
Script(wait 1, stop);
//? x.count
//= 0
//? y.count
//= 1
//? b.tickets
//= 32768
