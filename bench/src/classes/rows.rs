//! What is measured of each class.

use super::Place::{self, Pull, Push, Sink, Source};
use super::sample::Sample::{self, Ether, Icmp, Ip, Ip6, Tcp, Vlan};

/// A class, and the configuration that is measured.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) class: &'static str,
    pub(crate) stage: &'static str,
    pub(crate) sample: Sample,
    pub(crate) place: Place,
    /// How many of them stand one behind the other.
    pub(crate) times: usize,
}

/// Elements that can stand behind themselves are measured eight at a time, which the clock resolves better.
const ROW: usize = 8;

const fn row(sample: Sample, class: &'static str, stage: &'static str) -> Row {
    Row { class, stage, sample, place: Push, times: ROW }
}

/// Elements that change packets so that a second one would do something else, or that cost much.
const fn once(sample: Sample, class: &'static str, stage: &'static str) -> Row {
    Row { class, stage, sample, place: Push, times: 1 }
}

const fn pull(class: &'static str, stage: &'static str) -> Row {
    Row { class, stage, sample: Ip, place: Pull, times: 1 }
}

const fn source(class: &'static str, stage: &'static str) -> Row {
    Row { class, stage, sample: Ip, place: Source, times: 1 }
}

const fn sink(class: &'static str, stage: &'static str) -> Row {
    Row { class, stage, sample: Ip, place: Sink, times: 1 }
}

/// The rows, by family.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    row(Ip, "Null", "Null"),
    row(Ip, "PushNull", "PushNull"),
    row(Ip, "Counter", "Counter"),
    row(Ip, "Strip", "Strip(1)"),
    once(Ip, "Unstrip", "Unstrip(4)"),
    row(Ip, "Truncate", "Truncate(40)"),
    row(Ip, "Pad", "Pad(46)"),
    row(Ip, "Paint", "Paint(1)"),
    row(Ip, "CheckPaint", "CheckPaint(0)"),
    row(Ip, "PaintSwitch", "{ input -> s :: PaintSwitch -> output; s[1] -> Discard }"),
    row(Ip, "PaintTee", "{ input -> s :: PaintTee(1) -> output; s[1] -> Discard }"),
    row(Ip, "SetAnnoByte", "SetAnnoByte(20, 1)"),
    row(Ip, "SetPacketType", "SetPacketType(HOST)"),
    row(Ip, "CheckLength", "CheckLength(100)"),
    row(Ip, "StoreData", "StoreData(40, \\<01020304>)"),
    row(Ip, "Align", "Align(4, 0)"),
    row(Ip, "SetTimestamp", "SetTimestamp"),
    row(Ip, "AdjustTimestamp", "AdjustTimestamp(1)"),
    row(Ip, "SetTimestampDelta", "SetTimestampDelta"),
    once(Ip, "SetCRC32", "SetCRC32"),
    once(Ip, "Print", "Print(ACTIVE false)"),
    once(Ip, "IPPrint", "IPPrint(ACTIVE false)"),
    once(Ip, "TimeRange", "TimeRange"),

    row(Ip, "Switch", "{ input -> s :: Switch(0) -> output; s[1] -> Discard }"),
    row(Ip, "StaticSwitch", "{ input -> s :: StaticSwitch(0) -> output; s[1] -> Discard }"),
    row(Ip, "Suppressor", "Suppressor"),
    row(Ip, "Bypass", "Bypass"),
    row(Ip, "Block", "{ input -> s :: Block(0) -> output; s[1] -> Discard }"),
    row(Ip, "RandomSample", "RandomSample(1)"),
    row(Ip, "Meter", "{ input -> s :: Meter(4000000) -> output; s[1] -> Discard }"),
    row(Ip, "BandwidthMeter", "{ input -> s :: BandwidthMeter(4000000) -> output; s[1] -> Discard }"),
    row(Ip, "RatedSplitter", "{ input -> s :: RatedSplitter(1000000000) -> output; s[1] -> Discard }"),
    row(Ip, "BandwidthRatedSplitter", "{ input -> s :: BandwidthRatedSplitter(4GBps) -> output; s[1] -> Discard }"),
    once(Ip, "RoundRobinSwitch", "{ input -> s :: RoundRobinSwitch -> output; s[1] -> output }"),
    once(Ip, "StrideSwitch", "{ input -> s :: StrideSwitch(1, 1) -> output; s[1] -> output }"),
    once(Ip, "HashSwitch", "{ input -> s :: HashSwitch(12, 8) -> output; s[1] -> output }"),
    once(Ip, "RandomSwitch", "{ input -> s :: RandomSwitch -> output; s[1] -> output }"),
    once(Ip, "CPUSwitch", "{ input -> s :: CPUSwitch -> output; s[1] -> output }"),
    once(Ip, "Tee", "{ input -> s :: Tee -> output; s[1] -> Discard }"),
    once(Ip, "Hub", "{ input -> s :: Hub -> Discard; Idle -> [1] s; s[1] -> output }"),

    row(Ip, "Classifier", "{ input -> s :: Classifier(9/11, -) -> output; s[1] -> Discard }"),
    row(Ip, "IPClassifier", "{ input -> s :: IPClassifier(udp dst port 53, -) -> output; s[1] -> Discard }"),
    row(Ip, "IPFilter", "IPFilter(allow dst port 53 && src net 10/8, deny all)"),
    row(Ip6, "IP6Classifier", "{ input -> s :: IP6Classifier(udp, -) -> output; s[1] -> Discard }"),
    row(Ip6, "IP6Filter", "IP6Filter(allow udp, deny all)"),

    once(Ip, "EtherEncap", "EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2)"),
    row(Ether, "EtherRewrite", "EtherRewrite(2:0:0:0:0:1, 2:0:0:0:0:2)"),
    row(Ether, "EtherMirror", "EtherMirror"),
    row(Ether, "StoreEtherAddress", "StoreEtherAddress(2:0:0:0:0:1, dst)"),
    row(Ether, "GetEtherAddress", "GetEtherAddress(20, 0)"),
    row(Ether, "SetEtherAddress", "SetEtherAddress(2:0:0:0:0:1, 20)"),
    row(Ether, "MarkMACHeader", "MarkMACHeader"),
    row(Ether, "HostEtherFilter", "HostEtherFilter(2:0:0:0:0:2)"),
    row(Ether, "EnsureEther", "EnsureEther"),
    row(Ether, "DropBroadcasts", "DropBroadcasts"),
    row(Ether, "SetVLANAnno", "SetVLANAnno(7)"),
    once(Ether, "VLANEncap", "VLANEncap(7)"),
    once(Ip, "EtherVLANEncap", "EtherVLANEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2, 7)"),
    once(Vlan, "VLANDecap", "VLANDecap"),
    once(Vlan, "StripEtherVLANHeader", "StripEtherVLANHeader"),
    once(Ether, "EtherSwitch", "{ input -> s :: EtherSwitch -> Discard; Idle -> [1] s; s[1] -> output }"),
    once(Ip, "ARPQuerier", "{ input -> q :: ARPQuerier(10.0.0.254, 2:0:0:0:0:1); q[1] -> Discard; q[0] -> output; Idle -> [1] q; Script(write q.insert 10.0.1.2 2:0:0:0:0:2) }"),

    row(Ip, "CheckIPHeader", "CheckIPHeader(0)"),
    row(Ip, "CheckIPHeader2", "CheckIPHeader2(0)"),
    row(Ip, "MarkIPHeader", "MarkIPHeader(0)"),
    row(Ip, "GetIPAddress", "GetIPAddress(16)"),
    row(Ip, "SetIPAddress", "SetIPAddress(10.0.1.2)"),
    row(Ip, "SetRandIPAddress", "SetRandIPAddress(10.0.0.0/8)"),
    row(Ip, "StoreIPAddress", "StoreIPAddress(10.0.1.2, 16)"),
    row(Ip, "SetIPChecksum", "SetIPChecksum"),
    row(Ip, "DecIPTTL", "DecIPTTL"),
    row(Ip, "FixIPSrc", "FixIPSrc(10.0.0.1)"),
    row(Ip, "IPGWOptions", "IPGWOptions(10.0.0.1)"),
    row(Ip, "IPFragmenter", "IPFragmenter(1500)"),
    row(Ip, "SetIPDSCP", "SetIPDSCP(10)"),
    row(Ip, "SetIPECN", "SetIPECN(1)"),
    row(Ip, "MarkIPCE", "MarkIPCE"),
    row(Ip, "IPMirror", "IPMirror"),
    row(Ip, "CheckUDPHeader", "CheckUDPHeader"),
    row(Ip, "SetUDPChecksum", "SetUDPChecksum"),
    row(Tcp, "CheckTCPHeader", "CheckTCPHeader"),
    row(Tcp, "SetTCPChecksum", "SetTCPChecksum"),
    row(Icmp, "CheckICMPHeader", "CheckICMPHeader"),
    row(Icmp, "SetICMPChecksum", "SetICMPChecksum"),
    once(Icmp, "ICMPPingResponder", "ICMPPingResponder"),
    once(Ip, "IPInputCombo", "{ input -> Unstrip(14) -> IPInputCombo(1) -> output }"),
    once(Ip, "IPEncap", "IPEncap(4, 10.0.0.1, 10.0.0.2)"),
    once(Ip, "UDPIPEncap", "UDPIPEncap(10.0.0.1, 1234, 10.0.0.2, 53)"),
    once(Ip, "ICMPPingEncap", "ICMPPingEncap(10.0.0.1, 10.0.0.2)"),
    once(Ip, "ICMPError", "ICMPError(10.0.0.254, unreachable, host)"),
    once(Ip, "StripIPHeader", "StripIPHeader"),
    once(Ip, "UnstripIPHeader", "{ input -> StripIPHeader -> UnstripIPHeader -> output }"),
    once(Ip, "StripToNetworkHeader", "StripToNetworkHeader"),
    once(Ip, "StripTransportHeader", "StripTransportHeader"),
    once(Ip, "UnstripTransportHeader", "UnstripTransportHeader"),
    row(Ip, "IPReassembler", "IPReassembler"),
    row(Ip6, "CheckIP6Header", "CheckIP6Header(OFFSET 0)"),
    row(Ip6, "MarkIP6Header", "MarkIP6Header(0)"),
    row(Ip6, "GetIP6Address", "GetIP6Address(24)"),
    row(Ip6, "SetIP6Address", "SetIP6Address(2001:db8::1)"),
    row(Ip6, "StoreIP6Address", "StoreIP6Address(2001:db8::1, 24)"),
    row(Ip6, "SetIP6DSCP", "SetIP6DSCP(10)"),
    row(Ip6, "DecIP6HLIM", "DecIP6HLIM"),
    row(Ip6, "IP6Mirror", "IP6Mirror"),
    once(Ip6, "ICMP6Error", "ICMP6Error(2001:db8::fe, 1, 0)"),

    row(Ip, "StaticIPLookup", "StaticIPLookup(0.0.0.0/0 0)"),
    row(Ip, "LinearIPLookup", "LinearIPLookup(0.0.0.0/0 0)"),
    row(Ip, "RadixIPLookup", "RadixIPLookup(0.0.0.0/0 0)"),
    row(Ip, "DirectIPLookup", "DirectIPLookup(0.0.0.0/0 0)"),
    row(Ip, "RangeIPLookup", "RangeIPLookup(0.0.0.0/0 0)"),
    row(Ip, "IPLookup", "IPLookup(0.0.0.0/0 0)"),
    row(Ip6, "IP6Lookup", "IP6Lookup(::/0 0)"),
    row(Ip6, "LookupIP6Route", "LookupIP6Route(::/0 0)"),

    once(Ip, "IPRewriter", "IPRewriter(pattern 10.1.1.1 1024-65535 - - 0 0)"),
    once(Ip, "UDPRewriter", "UDPRewriter(pattern 10.1.1.1 1024-65535 - - 0 0)"),
    once(Tcp, "TCPRewriter", "TCPRewriter(pattern 10.1.1.1 1024-65535 - - 0 0)"),
    once(Icmp, "ICMPPingRewriter", "ICMPPingRewriter(pattern 10.1.1.1 0-65535 - - 0 0)"),
    once(Ip, "IPAddrRewriter", "IPAddrRewriter(pattern 10.1.1.1 - 0 0)"),
    once(Ip, "IPAddrPairRewriter", "IPAddrPairRewriter(pattern 10.1.1.1 - 0 0)"),

    row(Ip, "AverageCounter", "AverageCounter"),
    row(Ip, "AggregateIP", "AggregateIP(ip dst)"),
    row(Ip, "AggregateLength", "AggregateLength"),
    row(Ip, "AggregatePaint", "AggregatePaint"),
    row(Ip, "AggregateCounter", "AggregateCounter"),
    row(Ip, "AggregateIPFlows", "{ input -> SetTimestamp -> AggregateIPFlows -> output }"),
    row(Ip, "IPRateMonitor", "IPRateMonitor(PACKETS, 0, 1)"),

    once(Ip, "Queue", "Queue(1024) -> Unqueue(32)"),
    once(Ip, "SimpleQueue", "SimpleQueue(1024) -> Unqueue(32)"),
    once(Ip, "ThreadSafeQueue", "ThreadSafeQueue(1024) -> Unqueue(32)"),
    once(Ip, "NotifierQueue", "NotifierQueue(1024) -> Unqueue(32)"),
    once(Ip, "MSQueue", "MSQueue(1024) -> Unqueue(32)"),
    once(Ip, "MixedQueue", "{ input -> [0] q :: MixedQueue(1024) -> Unqueue(32) -> output; Idle -> [1] q }"),
    once(Ip, "FrontDropQueue", "FrontDropQueue(1024) -> Unqueue(32)"),
    once(Ip, "FullNoteQueue", "FullNoteQueue(1024) -> Unqueue(32)"),
    once(Ip, "QuickNoteQueue", "QuickNoteQueue(1024) -> Unqueue(32)"),
    pull("RoundRobinSched", "{ input -> s :: RoundRobinSched -> output; Idle -> [1] s }"),
    pull("StrideSched", "{ input -> s :: StrideSched(1, 1) -> output; Idle -> [1] s }"),
    pull("DRRSched", "{ input -> s :: DRRSched -> output; Idle -> [1] s }"),
    pull("PrioSched", "{ input -> s :: PrioSched -> output; Idle -> [1] s }"),
    pull("TimeSortedSched", "{ input -> s :: TimeSortedSched -> output }"),
    pull("PullSwitch", "{ input -> s :: PullSwitch(0) -> output; Idle -> [1] s }"),
    pull("StaticPullSwitch", "{ input -> s :: StaticPullSwitch(0) -> output; Idle -> [1] s }"),
    pull("SimplePullSwitch", "{ input -> s :: SimplePullSwitch(0) -> output; Idle -> [1] s }"),
    pull("Shaper", "Shaper(1000000000)"),
    pull("BandwidthShaper", "BandwidthShaper(4GBps)"),
    pull("PullNull", "PullNull"),
    pull("PullTee", "{ input -> s :: PullTee -> output; s[1] -> Discard }"),

    source("InfiniteSource", "InfiniteSource(BURST 32, LIMIT $LIMIT, STOP true)"),
    source("FastUDPSource", "FastUDPSource(0, $LIMIT, 64, 2:0:0:0:0:1, 10.0.0.1, 1, 2:0:0:0:0:2, 10.0.0.2, 2) -> Unqueue(32) -> Counter(COUNT_CALL $LIMIT stop)"),
    source("FastUDPFlows", "FastUDPFlows(0, $LIMIT, 64, 2:0:0:0:0:1, 10.0.0.1, 2:0:0:0:0:2, 10.0.0.2, 100, 10) -> Unqueue(32) -> Counter(COUNT_CALL $LIMIT stop)"),
    source("FastTCPFlows", "FastTCPFlows(0, $LIMIT, 64, 2:0:0:0:0:1, 10.0.0.1, 2:0:0:0:0:2, 10.0.0.2, 100, 10) -> Unqueue(32) -> Counter(COUNT_CALL $LIMIT stop)"),
    sink("DiscardNoFree", "DiscardNoFree"),
    sink("ToDump", "ToDump(/dev/null)"),
    sink("ToIPSummaryDump", "ToIPSummaryDump(/dev/null, FIELDS ip_src ip_dst ip_proto sport dport)"),
];
