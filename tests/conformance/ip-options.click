// IP options have one form, read and written: the caret is the pointer, a plus sign tells room.
//< in.txt !IPSummaryDump 1.3
//< in.txt !data ip_opt
//< in.txt ssrr{1.0.0.1,1.0.0.2^1.0.0.3}
//< in.txt rr{10.0.0.1,20.0.0.2}+5
//< in.txt ts{1,10000,!45}+2++3
//< in.txt ts.ip{1.0.0.1=1,1.0.0.2=2}+1
//< in.txt ts.preip{1.0.0.1=1^1.0.0.2,1.0.0.3}
FromIPSummaryDump($DIR/in.txt, STOP true) -> ToIPSummaryDump($DIR/out.txt, FIELDS ip_opt, HEADER false);
//! then
Script(printn $(cat $DIR/out.txt), stop);
//= ssrr{1.0.0.1,1.0.0.2^1.0.0.3}
//= rr{10.0.0.1,20.0.0.2}+5
//= ts{1,10000,!45}+2++3
//= ts.ip{1.0.0.1=1,1.0.0.2=2}+1
//= ts.preip{1.0.0.1=1^1.0.0.2,1.0.0.3}
