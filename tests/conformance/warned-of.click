// Rates of Meter may be bandwidths, too.
InfiniteSource(LIMIT 5, STOP true) -> m :: Meter(10kbps, 1MBps); m[0] -> Discard; m[1] -> c :: Counter -> Discard; m[2] -> Discard;
//? m.meters
//= 1250
//= 1000000
//! then
// A configuration that is refused says what else there is to say of it, in Click's words.
Idle -> m :: Meter(10kbps, 1000000); m[0] -> Discard; m[1] -> Discard; m[2] -> Discard;
Idle -> n :: BandwidthMeter(0, 600, 700kbps); n[0] -> Discard; n[1] -> Discard; n[2] -> Discard; n[3] -> q :: MSQueue(3) -> Discard;
Message(careful, WARNING); Message(stop, ERROR); Idle -> c :: Classifier(-, 12/0800); c[0] -> Discard; c[1] -> Discard;
//! error config:2: While configuring 'm :: Meter':
//! error   warning: no units for bandwidth argument 2, assuming Bps
//! error config:3: While configuring 'n :: BandwidthMeter':
//! error   warning: MSQueue is deprecated, use ThreadSafeQueue instead
//! error   warning: careful
//! error   stop
//! error   warning: output 1 matches no packets
//! then
Idle -> m :: BandwidthMeter(1kbps, 2kbps); m[0] -> Discard; m[1] -> Discard;
//! error need 1 arguments, one less than the number of output ports
//! then
Idle -> m :: Meter(1kbps, 2kx); m[0] -> Discard; m[1] -> Discard;
//! error argument 2 syntax error
