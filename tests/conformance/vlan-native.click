// There are no more VLANs than twelve bits tell apart.
Idle -> StripEtherVLANHeader(0x1000) -> Discard;
//! error bad NATIVE_VLAN
