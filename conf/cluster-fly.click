// A cluster that is a 2-ary 2-fly: four servers with external ports, and between them two levels of four that only pass packets on.
//
//   clique run --simtime conf/cluster-fly.click
//
// Each server has two links out and two in, however many there are; with a mesh of four it would have three of either, with one of a
// thousand a thousand. Links have one direction. Terminal I sends to terminal I + 2, all it has, which a single path could not
// carry: by way of other terminals it arrives.

elementclass Link { input -> SetTimestamp -> Queue -> DelayUnqueue(50us) -> output }

// Terminals: input and output 0 are the external port.
elementclass Terminal { $node, $to |
  vlb :: VLBFly($node, 4, 2, ORDER NONE, LINE_RATE 8Mbps);
  RatedSource(LENGTH 958, RATE 1000, LIMIT 500) -> UDPIPEncap(10.0.$node.2, 1, 10.0.$to.2, 2) -> VLBEncap($to) -> vlb;
  vlb -> VLBDecap -> CheckIPHeader -> out :: Counter -> Discard;
  input -> [1]vlb; vlb[1] -> [0]output; vlb[2] -> [1]output;
}

// Servers between them.
elementclass Between { $node |
  vlb :: VLBFly($node, 4, 2, LINE_RATE 8Mbps);
  Idle -> vlb -> Discard;
  input -> [1]vlb; vlb[1] -> [0]output; vlb[2] -> [1]output;
}

t0 :: Terminal(0, 2); t1 :: Terminal(1, 3); t2 :: Terminal(2, 0); t3 :: Terminal(3, 1);
a0 :: Between(4); a1 :: Between(5); a2 :: Between(6); a3 :: Between(7);
b0 :: Between(8); b1 :: Between(9); b2 :: Between(10); b3 :: Between(11);

// From terminals to the first level and from the last to the terminals the lowest bit of the number changes, between the levels
// the other.
t0[0], t1[0] -> Link -> a0; t0[1], t1[1] -> Link -> a1;
t2[0], t3[0] -> Link -> a2; t2[1], t3[1] -> Link -> a3;
a0[0], a2[0] -> Link -> b0; a0[1], a2[1] -> Link -> b2;
a1[0], a3[0] -> Link -> b1; a1[1], a3[1] -> Link -> b3;
b0[0], b1[0] -> Link -> t0; b0[1], b1[1] -> Link -> t1;
b2[0], b3[0] -> Link -> t2; b2[1], b3[1] -> Link -> t3;

Script(wait 0.7, stop);

//? t0/out.count
//= 500
//? t1/out.count
//= 500
//? t2/out.count
//= 500
//? t3/out.count
//= 500
//? a0/vlb.links
//= 1 8
//= 2 10
//? t0/vlb.refused
//= 0
