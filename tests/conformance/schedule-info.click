// A parameter is 1024 tickets; those of compounds multiply.
elementclass Pair { a :: InfiniteSource(LIMIT 1) -> Discard; ScheduleInfo(a 0.5) };
p :: Pair; b :: InfiniteSource(LIMIT 1) -> Discard;
ScheduleInfo(p 4, b 2);
Script(wait 1, stop);
//? p/a.tickets
//= 2048
//? b.tickets
//= 2048
