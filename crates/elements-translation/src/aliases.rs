//! Other names of this crate's classes.

/// Classes and their other names, those of old configurations and of FastClick's variants.
pub(crate) const NAMES: &[(&str, &[&str])] = &[
    (
        "CTXDPDKManager",
        &[
            "CTXDPDKBuilderManager",
            "CTXDPDKCacheManager",
            "FlowDPDKBuilderManager",
            "FlowDPDKCacheManager",
            "FlowDPDKClassifier",
            "FlowDPDKManager",
        ],
    ),
    ("CTXIPLoadBalancer", &["FlowSimpleIPLoadBalancer"]),
    ("CTXIPLoadBalancerReverse", &["FlowSimpleIPLoadBalancerReverse"]),
    ("CTXManager", &["FlowClassifier", "FlowManager"]),
    ("FlowCounter", &["CTXCounter", "MidStat"]),
    (
        "FlowIPManager",
        &[
            "FlowIPManagerDPDK",
            "FlowIPManagerH",
            "FlowIPManagerHIMP",
            "FlowIPManagerHMP",
            "FlowIPManagerIMP",
            "FlowIPManagerIMP_NoFID",
            "FlowIPManagerIMP_TW",
            "FlowIPManagerIMP_lazy",
            "FlowIPManagerMP",
            "FlowIPManagerMP_TW",
            "FlowIPManagerMP_lazy",
            "FlowIPManagerSpinlock",
            "FlowIPManager_CuckooPP",
            "FlowIPManager_CuckooPPIMP",
            "FlowIPManager_CuckooPPIMP_lazy",
            "FlowIPManager_DPDK",
        ],
    ),
    ("IPLoadBalancerReverse", &["FlowIPLoadBalancerReverse"]),
    ("IPRRSwitch", &["FlowRRSwitch", "IPFlowRRSwitch"]),
    ("IPRewriter", &["IPRewriterIMP"]),
    ("TCPRewriter", &["TCPRewriterIMP"]),
    ("UDPRewriter", &["UDPRewriterIMP"]),
];
