//! workers 1
// Elements that wrap packets for the same ends take turns with identifications; one of its own counts from 0.
InfiniteSource(LENGTH 10, LIMIT 3, STOP true) -> t :: Tee;
t[0] -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> Print(one, MAXLENGTH 6, TIMESTAMP false) -> Discard;
t[1] -> UDPIPEncap(1.0.0.1, 3, 2.0.0.2, 4) -> Print(two, MAXLENGTH 6, TIMESTAMP false) -> Discard;
t[2] -> UDPIPEncap(1.0.0.1, 1, 3.0.0.3, 2) -> Print(own, MAXLENGTH 6, TIMESTAMP false) -> Discard;
