//! Other names of this crate's classes.

/// Classes and their other names, those of old configurations and of FastClick's variants.
pub(crate) const NAMES: &[(&str, &[&str])] = &[
    (
        "AlignmentInfo",
        &["DPDKInfo", "DevirtualizeInfo", "FlowInfo", "IPFieldInfo", "IPSummaryDumpInfo", "NetmapInfo"],
    ),
    (
        "Counter",
        &[
            "CounterAtomic",
            "CounterLock",
            "CounterLockMP",
            "CounterMP",
            "CounterPLockMP",
            "CounterPRWMP",
            "CounterRCU",
            "CounterRCUMP",
            "CounterRW",
            "CounterRWMP",
            "CounterRxWMP",
            "CounterRxWMPPR",
            "CounterRxWMPPW",
        ],
    ),
    ("Discard", &["DiscardNoFree", "DiscardNoFreeBuffer"]),
    ("ICMPPingSource", &["ICMPSendPings"]),
    ("Idle", &["SimpleIdle"]),
    ("Message", &["MessageElement"]),
    ("Null", &["Null1", "Null2", "Null3", "Null4", "Null5", "Null6", "Null7", "Null8"]),
    ("PortInfo", &["IPNameInfo"]),
    ("PrioSched", &["SimplePrioSched"]),
    ("PullSwitch", &["SimplePullSwitch"]),
    ("Queue", &["FullNoteQueue", "ThreadSafeQueue"]),
    ("ReplayUnqueue", &["MultiReplayUnqueue"]),
    ("RoundRobinMultiSched", &["RRMultiSched"]),
    ("RoundRobinSched", &["SimpleRoundRobinSched"]),
    ("SYNFlood", &["SynFlood"]),
    ("Strip", &["FlowStrip"]),
    ("TSCClock", &["DPDKDeviceClock", "JiffieClock", "LinuxClock", "MBGClock"]),
    ("TimestampAccum", &["TimestampAccumMP"]),
    ("Unstrip", &["FlowUnstrip"]),
];
