// Colours carry a decision along: packets are painted where it is made, and sorted where it matters.
//
//   clique run conf/colours.click -h red.count -h blue.count

InfiniteSource(LIMIT 30) -> Paint(1) -> path :: Queue;
InfiniteSource(LIMIT 20) -> Paint(2) -> path;

path -> Unqueue -> all :: Counter(COUNT_CALL 50 stop) -> p :: PaintSwitch;
p[0] -> Discard;
p[1] -> red :: Counter -> Discard;
p[2] -> blue :: Counter -> Discard;

//? red.count
//= 30
//? blue.count
//= 20
