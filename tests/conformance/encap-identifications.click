//! workers 1
// Elements that wrap packets of one tunnel take turns with identifications; what has other ends, or is no tunnel, counts from 0.
InfiniteSource(LENGTH 10, LIMIT 3, STOP true) -> t :: Tee;
t[0] -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2, ECN true) -> Print(one, MAXLENGTH 6, TIMESTAMP false) -> Discard;
t[1] -> UDPIPEncap(1.0.0.1, 3, 2.0.0.2, 4, ECN true) -> Print(two, MAXLENGTH 6, TIMESTAMP false) -> Discard;
t[2] -> UDPIPEncap(1.0.0.1, 1, 3.0.0.3, 2) -> Print(own, MAXLENGTH 6, TIMESTAMP false) -> Discard;
//= one:   38 | 45000026 0000
//= two:   38 | 45000026 0001
//= own:   38 | 45000026 0000
//= one:   38 | 45000026 0002
//= two:   38 | 45000026 0003
//= own:   38 | 45000026 0001
//= one:   38 | 45000026 0004
//= two:   38 | 45000026 0005
//= own:   38 | 45000026 0002
