// A queue that has become smaller keeps the packets that came first, or those that came last.
InfiniteSource(LIMIT 4, DATA x) -> NumberPacket(0) -> q :: Queue(10) -> Unqueue(ACTIVE false) -> Discard;
InfiniteSource(LIMIT 4, DATA x) -> NumberPacket(0) -> f :: FrontDropQueue(10) -> Unqueue(ACTIVE false) -> Discard;
Script(wait 0.1, stop);
//! swap
Idle -> q :: Queue(2) -> Print(first, 1) -> Unqueue -> Discard;
Idle -> f :: FrontDropQueue(1) -> Print(last, 1) -> Unqueue -> Discard;
Script(wait 0.1, stop);
//= config:1: While hot-swapping state into 'q :: Queue':
//=   warning: some packets lost (old length 4, new capacity 2)
//= config:2: While hot-swapping state into 'f :: FrontDropQueue':
//=   warning: some packets lost (old length 4, new capacity 1)
//= first:    8 | 00
//= last:    8 | 03
//= first:    8 | 01
