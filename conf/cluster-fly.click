// A cluster that is a 2-ary 2-fly: four servers with external ports, and between them two levels of four that only pass packets on.
//
//   clique run --simtime conf/cluster-fly.click -h 't?/out.count' -h t0/vlb.links
//
// Each server has two links out and two in, however many there are; with a mesh of four it would have three of either, with one of a
// thousand a thousand. Packets go along a cable in one direction, hellos in both. Terminal I sends to terminal I + 2, all it has,
// which a single path could not carry: by way of other terminals it arrives, although one of the servers between is dead.
// The links have room for what it would carry. A third of it is IPv6: nodes do not tell families apart, since they look at labels only, and what
// leaves is not looked at again.

elementclass Link { input -> Switch -> SetTimestamp -> Queue -> DelayUnqueue(50us) -> output }

// A cable: what comes at either end leaves at the other.
elementclass Cable { input[0] -> there :: Link -> [1]output; input[1] -> back :: Link -> [0]output }

// Terminals: input and output 0 are the external port. Cables 0 and 1 lead to the first level, 2 and 3 come from the last.
elementclass Terminal { $node, $to |
  vlb :: VLBFly($node, 4, 2, KEY "not a secret", ORDER NONE, LINE_RATE 8Mbps, LINK_RATE 16Mbps);
  source :: RatedSource(LENGTH 938, RATE 1000, LIMIT 500, ACTIVE false) -> family :: RoundRobinSwitch;
  family[0], family[1] -> UDPIPEncap(10.0.$node.2, 1, 10.0.$to.2, 2) -> label :: VLBEncap($to) -> vlb;
  family[2] -> UDPIP6Encap(2001:db8:$node::2, 1, 2001:db8:$to::2, 2) -> label;
  vlb -> leaving :: VLBDecap(FAMILIES true);
  leaving[0] -> out :: Counter -> Discard;
  leaving[1] -> out6 :: Counter -> out;
  input[0] -> [1]vlb[1] -> [0]output; input[1] -> [2]vlb[2] -> [1]output;
  input[2] -> [3]vlb[3] -> [2]output; input[3] -> [4]vlb[4] -> [3]output;
}

// Servers between them: cables 0 and 1 lead on.
elementclass Between { $node |
  vlb :: VLBFly($node, 4, 2, KEY "not a secret", LINE_RATE 8Mbps, LINK_RATE 16Mbps);
  Idle -> vlb -> Discard;
  input[0] -> [1]vlb[1] -> [0]output; input[1] -> [2]vlb[2] -> [1]output;
  input[2] -> [3]vlb[3] -> [2]output; input[3] -> [4]vlb[4] -> [3]output;
}

t0 :: Terminal(0, 2); t1 :: Terminal(1, 3); t2 :: Terminal(2, 0); t3 :: Terminal(3, 1);
a0 :: Between(4); a1 :: Between(5); a2 :: Between(6); a3 :: Between(7);
b0 :: Between(8); b1 :: Between(9); b2 :: Between(10); b3 :: Between(11);

// From terminals to the first level and from the last to the terminals the lowest bit of the number changes, between the levels
// the other.
t0[0] -> t0a0 :: Cable -> [0]t0; a0[2] -> [1]t0a0[1] -> [2]a0;
t0[1] -> t0a1 :: Cable -> [1]t0; a1[2] -> [1]t0a1[1] -> [2]a1;
t1[0] -> t1a0 :: Cable -> [0]t1; a0[3] -> [1]t1a0[1] -> [3]a0;
t1[1] -> t1a1 :: Cable -> [1]t1; a1[3] -> [1]t1a1[1] -> [3]a1;
t2[0] -> t2a2 :: Cable -> [0]t2; a2[2] -> [1]t2a2[1] -> [2]a2;
t2[1] -> t2a3 :: Cable -> [1]t2; a3[2] -> [1]t2a3[1] -> [2]a3;
t3[0] -> t3a2 :: Cable -> [0]t3; a2[3] -> [1]t3a2[1] -> [3]a2;
t3[1] -> t3a3 :: Cable -> [1]t3; a3[3] -> [1]t3a3[1] -> [3]a3;
a0[0] -> a0b0 :: Cable -> [0]a0; b0[2] -> [1]a0b0[1] -> [2]b0;
a0[1] -> a0b2 :: Cable -> [1]a0; b2[2] -> [1]a0b2[1] -> [2]b2;
a1[0] -> a1b1 :: Cable -> [0]a1; b1[2] -> [1]a1b1[1] -> [2]b1;
a1[1] -> a1b3 :: Cable -> [1]a1; b3[2] -> [1]a1b3[1] -> [2]b3;
a2[0] -> a2b0 :: Cable -> [0]a2; b0[3] -> [1]a2b0[1] -> [3]b0;
a2[1] -> a2b2 :: Cable -> [1]a2; b2[3] -> [1]a2b2[1] -> [3]b2;
a3[0] -> a3b1 :: Cable -> [0]a3; b1[3] -> [1]a3b1[1] -> [3]b1;
a3[1] -> a3b3 :: Cable -> [1]a3; b3[3] -> [1]a3b3[1] -> [3]b3;
b0[0] -> b0t0 :: Cable -> [0]b0; t0[2] -> [1]b0t0[1] -> [2]t0;
b0[1] -> b0t1 :: Cable -> [1]b0; t1[2] -> [1]b0t1[1] -> [2]t1;
b1[0] -> b1t0 :: Cable -> [0]b1; t0[3] -> [1]b1t0[1] -> [3]t0;
b1[1] -> b1t1 :: Cable -> [1]b1; t1[3] -> [1]b1t1[1] -> [3]t1;
b2[0] -> b2t2 :: Cable -> [0]b2; t2[2] -> [1]b2t2[1] -> [2]t2;
b2[1] -> b2t3 :: Cable -> [1]b2; t3[2] -> [1]b2t3[1] -> [2]t3;
b3[0] -> b3t2 :: Cable -> [0]b3; t2[3] -> [1]b3t2[1] -> [3]t2;
b3[1] -> b3t3 :: Cable -> [1]b3; t3[3] -> [1]b3t3[1] -> [3]t3;

Script(wait 0.5,
  // Node 5 is dead: nothing of what it sends or should get arrives. The others go round it.
  write t0a1/there/Switch@1.switch -1, write t0a1/back/Switch@1.switch -1,
  write t1a1/there/Switch@1.switch -1, write t1a1/back/Switch@1.switch -1,
  write a1b1/there/Switch@1.switch -1, write a1b1/back/Switch@1.switch -1,
  write a1b3/there/Switch@1.switch -1, write a1b3/back/Switch@1.switch -1,
  wait 0.2,
  write t0/source.active true, write t1/source.active true, write t2/source.active true, write t3/source.active true,
  wait 0.6, stop);

//? t0/out.count
//= 500
//? t1/out.count
//= 500
//? t2/out.count
//= 500
//? t3/out.count
//= 500
//? t0/out6.count
//= 166
//? t1/out6.count
//= 166
//? t2/out6.count
//= 166
//? t3/out6.count
//= 166
//? a0/vlb.links
//= 1 to 8 up
//= 2 to 10 up
//= 3 from 0 up
//= 4 from 1 up
//? t0/vlb.links
//= 1 to 4 up
//= 2 to 5 down
//= 3 from 8 up
//= 4 from 9 up
//? t0/vlb.view
//= 1 up transit
//= 2 up transit
//= 3 up transit
//? a1/vlb.phase
//= active
