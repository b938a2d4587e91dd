// Simulated time goes on although a timer is due again at once, and a script waits for no time.
TimedSource(0) -> Discard;
Script(label again, wait 0, goto again);
Script(wait 0.001, print "done", stop);
//= done
