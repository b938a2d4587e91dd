//! Why packets go no further whose senders are told by ICMP: what types and codes mean (RFC 792, RFC 1122, RFC 1812; RFC 4443).

use wire::icmpv4::{kind, parameter_problem, time_exceeded, unreachable};
use wire::icmpv6;

/// What an ICMP error says of a packet that goes no further. `None` of one about a packet that goes on: a redirect.
pub(crate) fn reason(kind: u8, code: u8) -> Option<&'static str> {
    Some(match (kind, code) {
        (kind::REDIRECT, _) => return None,
        (kind::UNREACHABLE, unreachable::NET) => "network unreachable",
        (kind::UNREACHABLE, unreachable::HOST) => "host unreachable",
        (kind::UNREACHABLE, unreachable::PROTOCOL) => "protocol unreachable",
        (kind::UNREACHABLE, unreachable::PORT) => "port unreachable",
        (kind::UNREACHABLE, unreachable::FRAGMENTATION_NEEDED) => "fragmentation needed and DF set",
        (kind::UNREACHABLE, unreachable::SOURCE_ROUTE_FAILED) => "source route failed",
        (kind::UNREACHABLE, unreachable::NET_UNKNOWN) => "destination network unknown",
        (kind::UNREACHABLE, unreachable::HOST_UNKNOWN) => "destination host unknown",
        (kind::UNREACHABLE, unreachable::ISOLATED) => "source host isolated",
        (kind::UNREACHABLE, unreachable::NET_PROHIBITED) => "network administratively prohibited",
        (kind::UNREACHABLE, unreachable::HOST_PROHIBITED) => "host administratively prohibited",
        (kind::UNREACHABLE, unreachable::NET_TOS) => "network unreachable for the type of service",
        (kind::UNREACHABLE, unreachable::HOST_TOS) => "host unreachable for the type of service",
        (kind::UNREACHABLE, unreachable::FILTER_PROHIBITED) => "administratively prohibited",
        (kind::UNREACHABLE, unreachable::HOST_PRECEDENCE) => "host precedence violation",
        (kind::UNREACHABLE, unreachable::PRECEDENCE_CUTOFF) => "precedence cutoff in effect",
        (kind::UNREACHABLE, _) => "destination unreachable",
        (kind::SOURCE_QUENCH, _) => "source quench",
        (kind::TIME_EXCEEDED, time_exceeded::TRANSIT) => "time to live exceeded in transit",
        (kind::TIME_EXCEEDED, time_exceeded::REASSEMBLY) => "fragment reassembly time exceeded",
        (kind::TIME_EXCEEDED, _) => "time exceeded",
        (kind::PARAMETER_PROBLEM, parameter_problem::MISSING_OPTION) => "required option missing",
        (kind::PARAMETER_PROBLEM, parameter_problem::LENGTH) => "bad length",
        (kind::PARAMETER_PROBLEM, _) => "parameter problem",
        _ => "answered by an ICMP error",
    })
}

/// The same for ICMPv6.
pub(crate) fn reason6(kind: u8, code: u8) -> Option<&'static str> {
    use icmpv6::{kind, parameter_problem, time_exceeded, unreachable};
    Some(match (kind, code) {
        (kind::REDIRECT, _) => return None,
        (kind::UNREACHABLE, unreachable::NO_ROUTE) => "no route to destination",
        (kind::UNREACHABLE, unreachable::PROHIBITED) => "administratively prohibited",
        (kind::UNREACHABLE, unreachable::BEYOND_SCOPE) => "beyond scope of source address",
        (kind::UNREACHABLE, unreachable::ADDRESS) => "address unreachable",
        (kind::UNREACHABLE, unreachable::PORT) => "port unreachable",
        (kind::UNREACHABLE, unreachable::SOURCE_POLICY) => "source address failed ingress/egress policy",
        (kind::UNREACHABLE, unreachable::REJECT_ROUTE) => "reject route to destination",
        (kind::UNREACHABLE, _) => "destination unreachable",
        (kind::PACKET_TOO_BIG, _) => "packet too big",
        (kind::TIME_EXCEEDED, time_exceeded::TRANSIT) => "hop limit exceeded in transit",
        (kind::TIME_EXCEEDED, time_exceeded::REASSEMBLY) => "fragment reassembly time exceeded",
        (kind::TIME_EXCEEDED, _) => "time exceeded",
        (kind::PARAMETER_PROBLEM, parameter_problem::HEADER_FIELD) => "erroneous header field",
        (kind::PARAMETER_PROBLEM, parameter_problem::NEXT_HEADER) => "unrecognized next header",
        (kind::PARAMETER_PROBLEM, parameter_problem::OPTION) => "unrecognized IPv6 option",
        (kind::PARAMETER_PROBLEM, _) => "parameter problem",
        _ => "answered by an ICMPv6 error",
    })
}
