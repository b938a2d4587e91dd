// Sorts Ethernet frames by what is in them: ARP requests, ARP replies, IPv4, IPv6, the rest.
//
//   clique run conf/classify.click -h requests.count -h replies.count -h ip4.count -h ip6.count -h rest.count

c :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, 12/86dd, -);

FastUDPSource(0, 3, 60, 0:0:0:0:0:1, 10.0.0.1, 1, 0:0:0:0:0:2, 10.0.0.2, 2) -> Unqueue -> c;
InfiniteSource(DATA \<ffffffffffff 000000000001 0806 0001 0800 06 04 0001>, LIMIT 2) -> c;
InfiniteSource(DATA \<000000000002 000000000001 86dd 60>, LIMIT 1) -> c;
InfiniteSource(DATA \<000000000002 000000000001 88cc>, LIMIT 4) -> c;

c[0] -> requests :: Counter -> all :: Counter(COUNT_CALL 10 stop);
c[1] -> replies :: Counter -> all;
c[2] -> ip4 :: Counter -> all;
c[3] -> ip6 :: Counter -> all;
c[4] -> rest :: Counter -> all;
all -> Discard;

//? requests.count
//= 2
//? replies.count
//= 0
//? ip4.count
//= 3
//? ip6.count
//= 1
//? rest.count
//= 4
