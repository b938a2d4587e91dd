//! What to do about element classes that Click or FastClick have and this program has not: build it with them, or use others.

/// Advice, and the classes that it is for.
#[rustfmt::skip]
const CLASSES: &[(&str, &[&str])] = &[
    (DEVICE, &["FromBPF", "ToBPF", "FromSimDevice", "ToSimDevice", "FakePcap"]),
    ("packets lie in memory that every interface can send from; remove the element", &["BufferConverter",
        "EnsureDPDKBuffer", "EnsureNetmapBuffer"]),
    ("packets have headroom for what elements put in front; remove the element", &["EnsureHeadroom"]),
    ("workers share no element that needs a lock; remove the element", &["SpinlockInfo", "SpinlockAcquire",
        "SpinlockRelease", "SpinlockPush", "PathSpinlock", "FlowAcquire", "FlowLock"]),
    ("use FromHost", &["FromLinux"]),
    ("use ToHost", &["ToLinux"]),
    ("use KernelTun", &["Tun"]),
    ("use FromDevice, which has queues for each worker", &["MQPollDevice", "MQFromDevice"]),
    ("use ToDevice, which takes packets that are pushed", &["MQPushToDevice", "MQToDevice"]),
    ("use FromDevice, which can keep packets from the kernel", &["DivertSocket"]),
    ("use IP6NDSolicitor", &["ARPQuerier6", "NDSol"]),
    ("use IP6NDAdvertiser", &["ARPResponder6", "NDAdv"]),
    ("use McastSocket", &["MulticastSocket"]),
    ("use Socket or RawSocket", &["PacketSocket", "IPFlowSockets", "IPFlowRawSockets", "UMLSwitch"]),
    ("this needs Click's kernel module; this program runs in user space only", &["FromUserDevice", "ToUserDevice",
        "ScheduleLinux", "TulipStats", "ChangeUser"]),
    (MEASURE, &["StoreCycles", "PerfCountAccum",
        "PerfCountInfo", "PerfCountUser", "SetPerfCount", "UserClock"]),
    ("use StoreUDPTimeSeqRecord", &["UDPTimeCheck"]),
    (THREADS, &["SortedTaskSched", "SortedSched", "BinPackingSched", "ElementSched"]),
    ("use LinearIPLookup or RadixIPLookup, which a routing daemon's routes reach through KernelRoutes or FPMServer",
        &["LinuxIPLookup", "LookupIPRouteLinux"]),
    ("use RadixIPLookup; all tables here are equally fast", &["LookupIPRoute", "LookupIPRoute2",
        "LookupIPRouteRON", "TrieIPLookup", "IPLookupRadix"]),
    ("use a Script", &["ReadHandlerCall", "UserWriteHandlers", "FromHandler"]),
    ("this is what Click's KernelHandlerProxy and programs of others are built on, and no element by itself; to reach another router, \
        connect to its ControlSocket, with 'clique ctl' for instance", &["HandlerProxy"]),
    ("use FromDump, FromIPSummaryDump or FromTcpdump; convert the file to pcap for instance with wireshark's editcap",
        &["FromFlanDump", "FromTUSummaryLog", "FromNLANRDump", "FromDAGDump", "FromCapDump", "FromFile", "FromLineFile"]),
    ("use ToDump", &["ToSimTrace", "ToSimDump", "SimPacketAnalyzer", "PacketLogger", "PacketLogger2"]),
    ("use TimeSortedSched", &["ReverseSortedSched", "RevSortedSched"]),
    ("use RandomSample", &["RandomLossage", "ProbSampler", "ProbSplitter", "SplitFirst"]),
    ("use RandomBitErrors", &["RandomError"]),
    ("use RatedSplitter or Meter", &["RatedSampler", "PacketMeter"]),
    (DHCP, &["CheckDHCPMsg", "LeasePool", "LeaseTable"]),
    ("use IPRewriter", &["VanillaIPRewriter"]),
    ("use Shaper", &["PacketShaper", "PacketShaper2", "OldShaper"]),
    ("use BandwidthShaper", &["OldBandwidthShaper"]),
    ("use HashSwitch", &["HashDemux"]),
    ("use Unqueue", &["PullToPush"]),
    ("use Counter", &["Counter2", "IPCounter"]),
    ("use IPRateMonitor", &["IPFlexMonitor", "FlexMonitor", "KinkyRateMonitor", "Monitor", "RateMonitor"]),
    ("use Tee", &["Broadcast", "DupPath"]),
    ("use Print or IPPrint", &["PrintOld", "PrintAiro", "Print80211"]),
    ("use ICMPPingSource", &["ICMPPing"]),
    ("use DynamicUDPIPEncap", &["DynUDPIPEncap"]),
    ("use RoutingZeroEncap", &["Routing0Encap"]),
    ("use IPEncap and Paint", &["IPEncap2", "IPEncapPaint"]),
    ("use StripIPHeader and Paint", &["IPDecapPaint"]),
    ("use IPOutputCombo", &["IPOutputCrud"]),
    ("use CheckIP6Header", &["CheckIP6Header2"]),
    ("use ToIPSummaryDump", &["ChuckCheck"]),
    ("use IPRewriter, NAT64, AddressTranslator, ProtocolTranslator46 or ProtocolTranslator64", &["NAT624", "Nat624", "NetAddressTranslator",
        "ProtocolTranslator", "Rewriter", "Rewriter2", "MappingCreator", "IPLBMapper"]),
    ("use RoundRobinIPMapper", &["IPRoundRobinMapper"]),
    ("use FastTCPFlows, TCPIPSend, or a real host", &["ToyTCP", "WebGen", "TCPAck", "TCPConn", "TCPDemux",
        "StatelessTCPResponder", "TCPSYNACKControl", "SnoopTCP", "TCPConnectionMonitor"]),
    ("header compression (RFC 2507) is not built", &["RFC2507Comp", "RFC2507Decomp", "RFC2507c", "RFC2507d"]),
    ("GTP is not built; a GTP-U tunnel is a Strip or an UDPIPEncap with 8 bytes of StoreData", &["GTPDecap", "GTPEncap",
        "GTPLookup", "GTPTable"]),
    ("use WordMatcher", &["InsultRemover"]),
    ("use WorkPackage or FlowWorkPackage", &["RandLoad", "FlowRandLoad"]),
    ("let a routing suite (FRR, BIRD) speak RIP through FromHost and ToHost", &["RIPSend"]),
    ("make rules from what ToIPSummaryDump writes", &["GenerateIPFilterRules", "GenerateIPFilter", "GenerateIPLookupRules",
        "GenerateIPLookup", "GenerateIPOpenFlowRules", "GenerateIPDPDKFlowRules", "GenerateIPFlowDispatcher",
        "GenerateIPFlowDirector"]),
    ("use InfiniteSource with StoreData", &["KVSKeyGen", "KVSGenKey"]),
    ("use StoreData", &["SaveIPFields", "Annotate"]),
    (DEVICE, &["FromDPDKDeviceMulti", "XDPLoader", "XDPDevice", "CrossRSS"]),
    ("this sets up or watches hardware; remove the element", &["DDIOTune", "HardwareCounter"]),
    ("senders send again by themselves; remove the element", &["RetransmissionTiming", "TCPClientACK", "TCPClientAck"]),
    ("use TCPStateIN", &["TCPStatus"]),
    ("outputs that meet at an input need no element in between; remove the element", &["PathMerger"]),
    (FLOWS, &["BatchFCB", "SFMaker", "VirtualFlow"]),
    ("there is no agent for a controller of service chains", &["Metron", "MonitoringReportSocket", "BlackboxNF"]),
    ("forward error correction and BIER are not built; use IP6SREncap for segment routing", &["IP6SRv6FECEncode", "IP6SRv6FECDecode",
        "CheckBIERin6Header"]),
    ("use ProtocolTranslator64 or AddressTranslator", &["StatefulTranslator64"]),
    ("use FlowHyperScan for flows, RegexMatcher for packets, or CTXIDSMatcher for TCP streams", &["FlowRegexMatcher"]),
    ("it lets all packets pass; remove the element", &["GTPFilter"]),
    ("use RoundRobinSched and Unqueue", &["RRUnqueue"]),
    ("use HTTPServer, or a real server", &["WebServer"]),
    ("use FastTCPFlows or FastUDPFlows", &["IPSynthesizer", "TCPSynthesizer", "UDPSynthesizer"]),
    ("use ToSocket or ToDump", &["ToExternalProcess"]),
    (TESTS, &["AggregateNotifier", "QueueThreadTest1", "QueueThreadTest2", "TestFlowSpace"]),
    ("use IPsecAES", &["Aes"]),
    ("use IPsecDES", &["Des"]),
    ("use IPsecESPUnencap", &["DesP"]),
    ("use IPsecAuthHMACSHA1", &["HMACSHA1"]),
    ("RadixIPsecLookup has its associations in itself; remove the element", &["SATable"]),
    ("set rates by SetTXRate; the kernel's drivers choose rates better", &["AutoRateFallback", "MadwifiRate", "ProbeTXRate"]),
    ("WEP protects nothing; it is not built", &["WepEncap", "WepDecap"]),
    (WIRELESS, &["AckResponder", "AckResponder2", "AckRetrySender", "AckRetrySender2", "AiroInfo", "Amoeba",
        "AthdescDecap", "AthdescEncap", "AutoTXPower",
        "AutoTXRate", "B8B10", "BIM", "BottleneckMetric",
        "CheckGridHeader", "CheckPattern", "CheckSRHeader", "CollisionDetection", "CopyRXStats", "CounterFlood",
        "DSDVRouteTable", "E2ELossMetric", "ECNQueue", "ESRCR", "ETTMetric", "ETTStat", "ETX2Metric", "ETXMetric",
        "EtherCount", "FilterByGridHops", "FilterByRange", "FilterFailures",
        "FixDstLoc", "FixSrcLoc", "FlashFlood", "FloodTracker", "FloodingLocQuerier", "GatewaySelector",
        "HopcountMetric", "InOrderQueue", "IncrementSeqNo", "LIRMetric", "LRHello", "LinkFailureDetection", "LinkStat",
        "LinkTable", "LinkTestReceiver", "LinkTester", "LinkTracker", "LocFromFile", "LocQueryResponder", "LocalBroadcast",
        "LookupGeographicGridRoute", "LookupLocalGridRoute", "LookupLocalGridRoute2", "MetricFlood",
        "MovementSimulator", "PEP", "PFlood", "PhyErrFilter", "PacketStore", "PingPong",
        "PrintGrid", "PrintSR",
        "PushAnno", "RTMDSR", "RadioSim", "ReadAnno", "RegionPEP", "Scramble",
        "SendGridHello", "SendGridLRHello", "SendPattern", "SetGateway", "SetGridChecksum",
        "SetSRChecksum", "SetSourceRoute", "SetTXRateHT", "SimpleLocQuerier", "StationTable",
        "TXFeedbackStats"]),
];

/// Advice for families of classes, by how their names begin.
const FAMILIES: &[(&str, &str)] = &[
    ("CTX", CONTEXTS),
    ("DHCP", DHCP),
    ("DPDK", DEVICE),
    ("DSR", WIRELESS),
    ("Flow", FLOWS),
    ("Grid", WIRELESS),
    ("HTTP", "use HTTPIn, HTTPOut or HTTPServer; there is no proxy for HTTP"),
    ("IPsec", IPSEC),
    ("Netmap", DEVICE),
    ("SNMP", "use MetricsSocket, or read handlers through ControlSocket"),
    ("SR2", WIRELESS),
    ("SR", WIRELESS),
    ("Wep", WIRELESS),
    ("Wifi", WIRELESS),
];

const DEVICE: &str = "use FromDevice and ToDevice, which take AF_XDP sockets or packet sockets, or FromDump and ToDump for files";
const CONTEXTS: &str = "use CTXManager, CTXDispatcher, CTXIDSMatcher or WordMatcher";
const DHCP: &str =
    "there are no elements for DHCP; let a server or client use an interface of FromHost or KernelTap";
const FLOWS: &str = "use FlowIPManager with FlowCounter, FlowSwitch, FlowIPLoadBalancer, FlowNAPTLoadBalancer, FlowIPNAT, FlowRateLimiter or StoreFlowID";
const IPSEC: &str = "use ESPEncap and ESPDecap, or let the kernel encrypt ('ip xfrm')";
const MEASURE: &str = "use SetCycleCount and CycleCountAccum, or RoundTripCycleCount, or measure the program with 'clique run --time' or perf(1)";
const TESTS: &str = "this is one of Click's tests of itself, which are of no use here; remove the element";
const THREADS: &str =
    "use StaticThreadSched to place elements on workers; 'clique check' shows who runs what";
const WIRELESS: &str = "wireless access points and stations can be built from BeaconSource, AssociationRequester and others, but no mesh, and nothing with WPA; let batman-adv, hostapd(8) or wpa_supplicant(8) see to that, with an interface of the kernel's";

const FEATURE: &str = "this program was built without it: build with '--features full', or use a package";

/// The advice for a class that the program does not know, if it is one of Click's or FastClick's.
pub(crate) fn find(name: &str) -> Option<&'static str> {
    if elements::is_optional(name) {
        return Some(FEATURE);
    }
    let exact = CLASSES.iter().find(|(_, classes)| classes.contains(&name)).map(|(advice, _)| *advice);
    let family = || FAMILIES.iter().find(|(start, _)| is_of_family(name, start)).map(|(_, advice)| *advice);
    let test = || (name.len() > 4 && name.ends_with("Test")).then_some(TESTS);
    exact.or_else(family).or_else(test)
}

/// Whether a name begins so, and goes on with the next word of the name or ends there.
fn is_of_family(name: &str, start: &str) -> bool {
    name.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_family_of_classes_has_its_advice() {
        assert_eq!(find("FromBPF"), Some(DEVICE));
        assert_eq!(find("WifiFragment"), Some(WIRELESS));
        assert_eq!(find("IPsecInbound"), Some(IPSEC));
        assert_eq!(find("TaskThreadTest"), Some(TESTS));
        for name in ["Flower", "Gridlock", "IPFilter", "Wepa", "Nonsense", "Test", ""] {
            assert_eq!(find(name), None, "{name}");
        }
    }

    fn known() -> BTreeSet<&'static str> {
        let control = control::CLASSES.iter().map(|class| class.name);
        elements::classes().names().chain(control).collect()
    }

    /// Every class of Click 2.1 is here, or there is advice, and every one that FastClick has beside; and there is none for a class that is
    /// here, nor twice.
    #[test]
    fn all_classes_of_click() {
        let known = known();
        let (click, fast_click) = (
            include_str!("../../../tests/click-classes.txt"),
            include_str!("../../../tests/fastclick-classes.txt"),
        );
        for (text, least) in [(click, 400), (fast_click, 150)] {
            let missing = |name: &&str| !known.contains(name) && find(name).is_none();
            let missing: Vec<&str> = text.split_whitespace().filter(missing).collect();
            assert!(missing.is_empty(), "neither here nor with advice: {missing:?}");
            assert!(text.split_whitespace().count() > least);
        }
        let mut advised = BTreeSet::new();
        for name in CLASSES.iter().flat_map(|(_, classes)| *classes) {
            assert!(!known.contains(name), "{name} is there");
            assert!(advised.insert(name), "{name} has two pieces of advice");
        }
    }

    /// Families do not claim such a class by the beginning of its name. A test of `elements` holds the list complete.
    #[test]
    fn a_class_behind_a_feature_is_advised_to_be_built_in() {
        for name in ["WifiEncap", "PrintWifi", "IPsecAES", "HTTPIn", "CTXCRC", "FlowCRC", "AggregateCounter"]
        {
            assert_eq!(find(name), Some(FEATURE), "{name}");
        }
    }

    /// What is recommended exists: words that look like classes are.
    #[test]
    fn advice_names_classes() {
        let known = known();
        let other = [
            "BIER", "BIRD", "DHCP", "FRR", "GTP", "GTP-U", "RFC", "RIP", "WEP", "WPA", "IPv6", "AF_XDP",
            "TCP", "ARP", "UDP", "IPsec", "HTTP", "PROXY", "Click's", "IP6", "Click",
        ];
        let advice =
            CLASSES.iter().map(|(advice, _)| *advice).chain(FAMILIES.iter().map(|(_, advice)| *advice));
        for advice in advice {
            let words = advice.split([' ', ',', ';', ':', '(', ')']).filter(|word| !word.is_empty());
            for word in words.filter(|word| word.chars().filter(char::is_ascii_uppercase).count() > 1) {
                assert!(known.contains(word) || other.contains(&word), "{word} in '{advice}'");
            }
        }
    }
}
