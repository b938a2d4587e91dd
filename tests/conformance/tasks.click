// Tasks that do nothing but run, or write to a handler each time; as often as they may.
n :: NullTask(LIMIT 12, STOP true);
idle :: NullTask(ACTIVE false);
Idle -> s :: Switch(0) -> Discard; s[1] -> Discard;
once :: HandlerTask(s.switch 1);
thrice :: HandlerTask(p.run, RESCHEDULE true, LIMIT 3);
p :: Script(TYPE PASSIVE, print "run");
DriverManager(pause, write idle.scheduled true, wait 1, write idle.scheduled false, write idle.reset, stop);
//= run
//= run
//= run
//? n.count
//= 12
//? n.runs
//= 12
//? idle.count
//= 0
//? idle.scheduled
//= false
//? once.count
//= 1
//? thrice.count
//= 3
//? s.switch
//= 1
