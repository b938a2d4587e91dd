// Two classes of traffic share a slow link: whatever is in the first queue goes before anything in the second.
// The link takes 100 packets a second; the urgent stream offers 60, the other one 200 and gets what is left.
//
//   clique run --simtime conf/priorities.click

urgent :: RatedSource(RATE 60) -> Paint(1) -> q1 :: Queue(50);
bulk :: RatedSource(RATE 200) -> Paint(2) -> q2 :: Queue(50);

q1 -> [0] link :: PrioSched;
q2 -> [1] link;
link -> Shaper(100) -> Unqueue -> p :: PaintSwitch;
p[0] -> Discard;
p[1] -> first :: Counter -> Discard;
p[2] -> second :: Counter -> Discard;

Script(wait 10, print "urgent got all: $(ge $(first.count) 595), bulk was cut: $(lt $(second.count) 450)", stop);

//= q2 :: Queue: overflow
//= urgent got all: true, bulk was cut: true
