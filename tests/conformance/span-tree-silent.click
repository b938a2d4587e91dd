// A bridge that has heard no message takes any message as better than none.
s :: EtherSwitch; in :: Suppressor; out :: Suppressor;
Idle -> [0] t :: EtherSpanTree(2:0:0:0:0:1, in, out, s) [0] -> Discard;
Idle -> [0] in [0] -> [0] s [0] -> [0] out [0] -> Discard;
DriverManager(stop);
//= Setting send_tc_msg: BLOCK -> FORWARD on 0
//= Changing port 0 from 0 to 1
//? t.msgs
//=  ffffffffffffffff:0000: tc  ffffffff -> ffffffffffffffff  m/h/d: 14/2/f
//=  dead020000000001:0000: tc  0 -> dead020000000001  m/h/d: 14/2/f
