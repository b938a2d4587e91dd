//! Other names of this crate's classes.

/// Classes and their other names, those of old configurations and of FastClick's variants.
pub(crate) const NAMES: &[(&str, &[&str])] = &[
    ("EtherVLANEncap", &["EtherVlanEncap"]),
    ("IPOutputCombo", &["FlowIPOutputCombo"]),
    ("SetTransportChecksumIP6", &["SetUDPChecksumIP6"]),
    ("SetVLANAnno", &["SetVlanAnno"]),
    ("StripEtherVLANHeader", &["StripEtherVlanHeader"]),
    ("StripTransportHeader", &["StripTCPHeader"]),
    ("UnstripTransportHeader", &["UnstripTCPHeader"]),
];
