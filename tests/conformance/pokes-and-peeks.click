// Handlers are read and written at their times.
TimedSource(1) -> c :: Counter -> Discard;
PokeHandlers(1.5, write c.reset, wait 0.4, read c.count, print c.byte_count, 2.6, quit); PeekHandlers(1.2, c.count, 0.5, c.count);
//= c.count:
//= 1
//= c.count:
//= 0
//= c.count:
//= 0
//= c.byte_count:
//= 0
//? c.count
//= 3
