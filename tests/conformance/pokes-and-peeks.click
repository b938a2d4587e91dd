// Handlers are read and written at their times.
TimedSource(1) -> c :: Counter -> Discard;
PokeHandlers(1.5, c.reset, 3, quit); PeekHandlers(1.2, c.count, 0.5, c.count);
//= c.count:
//= 1
//= c.count:
//= 0
//? c.count
//= 3
