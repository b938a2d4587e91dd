//! error Found no or more than 1 TCPOut element. Specify which one to use with OUTNAME
Idle -> in :: TCPIn(RETURNNAME back) -> Discard;
Idle -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//! then
//! error RETURNNAME: required argument missing
Idle -> TCPIn -> TCPOut -> Discard;
