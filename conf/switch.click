// An Ethernet switch that learns: the first frame to an unknown station goes everywhere, later ones only to where that
// station was heard. Three hosts send to each other over three ports.
//
//   clique run --simtime conf/switch.click -h s.table

s :: EtherSwitch;
// Host 1 calls host 2; later host 2 answers; then host 1 calls again.
one :: TimedSource(1, DATA \<020000000002 020000000001 88b5>, LIMIT 2) -> [0] s;
answer :: TimedSource(1.5, DATA \<020000000001 020000000002 88b5>, LIMIT 1) -> [1] s;
Idle -> [2] s;

s[0] -> at1 :: Counter -> Discard;
s[1] -> at2 :: Counter -> Discard;
s[2] -> at3 :: Counter -> Discard;

Script(wait 10, stop);

//? at1.count
//= 1
//? at2.count
//= 2
//? at3.count
//= 1
