// Passive scripts answer, active ones run, signal scripts wait.
f :: Script(TYPE PASSIVE, return $(mul $1 $1));
Script(print $(f.run 7), stop);
//= 49
