// Devices as FastClick names them, which may be missing.
f :: FromDPDKDevice(nowhere0, 0, true, ALLOW_NONEXISTENT true, VERBOSE 99, N_QUEUES -1, RSS_AGGREGATE 1, PAINT_QUEUE true, NDESC 512, MAC 0:0:0:0:0:1, PAUSE none,
  MAXTHREADS 1, THREADOFFSET 0, NUMA false, PREFETCH_SECOND 1, ACTIVE 1, MODE rss) -> a :: Counter -> Discard;
n :: FromNetmapDevice(netmap:nowhere0, PROMISC false, BURST 16, METHOD NETMAP, ALLOW_NONEXISTENT true) -> Discard;
FromDPDKDevice(0, METHOD DPDK, MODE flow_dir, FLOW_DIR_RULES_FILE rules, SLEEP_MODE no_sleep, MINTHREADS 2, VLAN_STRIP true, LRO false, ALLOW_NONEXISTENT true) -> Idle
  -> ToDPDKDevice(0, SET_VLAN false, ALLOW_NONEXISTENT true);
XDPFromDevice(nowhere0, MODE skb, PROG xdpallrx, LOAD true, VNI 0, TRACE false, ALLOW_NONEXISTENT true) -> XDPToDevice(nowhere0, MODE copy, TRACE false, ALLOW_NONEXISTENT true);
FromXDP(nowhere0, ALLOW_NONEXISTENT true) -> ToXDP(nowhere0, ALLOW_NONEXISTENT true);
FromDPDKDeviceXCHG(0, ALLOW_NONEXISTENT true) -> v :: AggregateCounterVector(MASK 511) -> ToDPDKDeviceXCHG(0, ALLOW_NONEXISTENT true);
d :: DeviceBalancer(DEV f, METHOD rsspp, VERBOSE 0, TIMER 1000, STARTCPU 4, RSSCOUNTER v, AUTOSCALE 0, CYCLES queue, TARGET balance);
DeviceBalancer(DEV f, METHOD pianorss, TARGET 0.75, LOAD 0.90, RSSCOUNTER v, CYCLES realcpu, MIN_MOVEMENT 1, CONFIG rules);
InfiniteSource(LIMIT 3) -> t :: ToDPDKDevice(0, BLOCKING true, BURST 32, VERBOSE 99, IQUEUE 1024, TCO 1, ALLOC true, TIMEOUT 0, ALLOW_NONEXISTENT true);
InfiniteSource(LIMIT 2) -> Queue -> u :: ToNetmapDevice(nowhere0, METHOD NETMAP, ALLOW_NONEXISTENT true);
w :: Script(write f.active false, print $(f.active), wait 1, print $(t.count) $(t.dropped), print $(f.xstats rx_bytes)$(f.xstats rx_good_packets), read f.xstats frog, stop);
//= false
//= 0 3
//= 00
//= While executing 'w :: Script':
//=   While calling 'f.xstats frog':
//=     no statistic 'frog'
//= f.xstats:
//=
//? f.count
//= 0
//? f.hw_count
//= 0
//? n.hw_dropped
//= 0
//? f.nb_rx_queues
//= 0
//? d.autoscale
//= false
//? u.n_dropped
//= 2
//? u.n_sent
//= 0
//! then
FromDPDKDevice(nowhere0) -> Discard;
//! error nowhere0: Unknown or invalid PORT
//! then
FromDPDKDevice(nowhere0, METHOD FROG, ALLOW_NONEXISTENT true) -> Discard;
//! error bad METHOD
//! then
Idle -> ToDPDKDevice(7);
//! error port 7: which interface that is
//! then
XDPFromDevice(nowhere0, MODE frog) -> Discard;
//! error invalid mode "frog" must be (xdp|skb|copy)
//! then
Idle -> XDPToDevice(nowhere0, MODE frog);
//! error invalid mode "frog" must be (xdp|skb|copy)
//! then
Idle -> c :: Counter -> Discard; DeviceBalancer(rss, c)
//! error Not an Ethernet Device
//! then
f :: FromDPDKDevice(nowhere0, ALLOW_NONEXISTENT true) -> Discard; DeviceBalancer(frog, f)
//! error Unknown method frog
//! then
f :: FromDPDKDevice(nowhere0, ALLOW_NONEXISTENT true) -> Discard; DeviceBalancer(rsspp, f)
//! error You must set a RSSCOUNTER element
//! then
f :: FromDPDKDevice(nowhere0, ALLOW_NONEXISTENT true) -> Discard; DeviceBalancer(rss, f, CYCLES frog)
//! error Unknown cycle method !
//! then
f :: FromDPDKDevice(nowhere0, ALLOW_NONEXISTENT true) -> Discard; DeviceBalancer(rss, f, TARGET frog)
//! error Unknown target frog
