// A pause lasts until a caller ends it; otherwise `unpause` does nothing.
c :: Counter; TimedSource(1) -> c -> Discard;
p :: PokeHandlers(wait 1.5, pause, write c.reset, wait 2, quit);
Script(wait 1, write p.unpause, print p.paused, wait 1.7, print $(p.paused) $(c.count), write p.unpause, print $(p.paused) $(c.count));
//= false
//= true 2
//= false 0
