// A script that is written to has a status, not a value; `step` and `goto` have no arguments.
p :: Script(TYPE PASSIVE, return 5);
q :: Script(TYPE PASSIVE, print "$0 $args", goto end $(eq $0 step), pause, label more, print "$0 $#", pause, print "$0 $#");
s :: Script(print p.run, write p.run, print $?, print s.sprintf "%.s %.2s %d%%" abc abc 7,
            write q.run a b, write q.step, write q.goto more, write q.step, stop);
//= 5
//= 0
//= abc ab 7%
//= run a b
//= step 0
//= goto 0
//= step 0
//! then
// A failed write has a status that says whether it ran a script that failed.
p :: Script(TYPE PASSIVE, error); q :: Script(TYPE PROXY, errorq "");
Script(write p.run, print $?, write p.step x, print $?, write q.any, print $?, stop);
//= -1
//= While executing 'Script@3 :: Script':
//=   While calling 'p.step x':
//=     syntax error
//= -22
//= -1
