// Two switches with two LANs between them: one port of the one with the higher address is blocked.
elementclass Bridge { $mac |
  in :: Suppressor; out :: Suppressor; s :: EtherSwitch; t :: EtherSpanTree($mac, in, out, s);
  input[0] -> c :: Classifier(14/4242, -) -> [0]t; c[1] -> [0]in[0] -> [0]s[0] -> [0]out[0] -> [0]output;
  input[1] -> d :: Classifier(14/4242, -) -> [1]t; d[1] -> [1]in[1] -> [1]s[1] -> [1]out[1] -> [1]output;
  t[0] -> [0]output; t[1] -> [1]output };
a :: Bridge(2:0:0:0:0:1); b :: Bridge(2:0:0:0:0:2);
a[0] -> Null -> [0]b; a[1] -> Null -> [1]b; b[0] -> Null -> [0]a; b[1] -> Null -> [1]a;
Script(wait 40, stop);
//! workers 1
//= Setting send_tc_msg: BLOCK -> FORWARD on 0
//= Changing port 0 from 0 to 1
//= Setting send_tc_msg: BLOCK -> FORWARD on 1
//= Changing port 1 from 0 to 1
//= Setting send_tc_msg: BLOCK -> FORWARD on 0
//= Changing port 0 from 0 to 1
//= Setting send_tc_msg: BLOCK -> FORWARD on 1
//= Changing port 1 from 0 to 1
//= Setting send_tc_msg: FORWARD -> BLOCK on 1
//= Changing port 1 from 1 to 0
//= Changing port 0 from 1 to 2
//= Changing port 1 from 1 to 2
//= Changing port 0 from 1 to 2
//= Changing port 0 from 2 to 3
//= Changing port 1 from 2 to 3
//= Changing port 0 from 2 to 3
//? a/out.active0
//= true
//? a/out.active1
//= true
//? b/out.active0
//= true
//? b/out.active1
//= false
//! swap
// The tree stands when the configuration is replaced: frames go on without a break.
elementclass Bridge { $mac |
  in :: Suppressor; out :: Suppressor; s :: EtherSwitch; t :: EtherSpanTree($mac, in, out, s);
  input[0] -> c :: Classifier(14/4242, -) -> [0]t; c[1] -> [0]in[0] -> [0]s[0] -> [0]out[0] -> [0]output;
  input[1] -> d :: Classifier(14/4242, -) -> [1]t; d[1] -> [1]in[1] -> [1]s[1] -> [1]out[1] -> [1]output;
  t[0] -> [0]output; t[1] -> [1]output };
a :: Bridge(2:0:0:0:0:1); b :: Bridge(2:0:0:0:0:2);
a[0] -> Null -> [0]b; a[1] -> Null -> [1]b; b[0] -> Null -> [0]a; b[1] -> Null -> [1]a;
Script(wait 0.1, stop);
//= Setting send_tc_msg: BLOCK -> FORWARD on 0
//= Changing port 0 from 0 to 1
//= Setting send_tc_msg: BLOCK -> FORWARD on 1
//= Changing port 1 from 0 to 1
//= Setting send_tc_msg: BLOCK -> FORWARD on 0
//= Changing port 0 from 0 to 1
//= Setting send_tc_msg: BLOCK -> FORWARD on 1
//= Changing port 1 from 0 to 1
//? a/out.active0
//= true
//? a/in.active1
//= true
//? b/out.active0
//= true
//? b/out.active1
//= false
