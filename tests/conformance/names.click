// Names stand for ports and annotations.
PortInfo(here 1000, there 2000/udp); AnnotationInfo(class 18 1, CHECK_OVERLAP class PAINT); ThreadMonitor(1000);
InfiniteSource(DATA a, LIMIT 1) -> UDPIPEncap(1.0.0.1, here, 2.0.0.2, there) -> Paint(1, class)
  -> p :: PaintSwitch(class); p[0] -> Discard; p[1] -> c :: IPClassifier(dst port there, -);
c[0] -> IPPrint(named, TIMESTAMP false) -> Counter(COUNT_CALL 1 stop) -> Discard; c[1] -> Discard;
//= named: 1.0.0.1.1000 > 2.0.0.2.2000: udp 9
