//! The elements that make packets of texts.

use std::path::Path;

/// A configuration for each format; each reads a file once, and makes of the packets the texts of the other side.
pub(crate) fn configurations(file: &Path) -> impl Iterator<Item = String> {
    const READERS: [&str; 6] = [
        "FromIPSummaryDump($FILE, STOP true)",
        "FromIPSummaryDump($FILE, STOP true, CHECKSUM true, ZERO false, DEFAULT_PROTO T)",
        "FromNetFlowSummaryDump($FILE, STOP true)",
        "FromNetFlowSummaryDump($FILE, STOP true, LINK both, ZERO false)",
        "FromTcpdump($FILE, STOP true, CHECKSUM true)",
        "FromMinDump($FILE, STOP true)",
    ];
    const FIELDS: &str =
        "timestamp ip_src ip_dst sport dport ip_proto ip_opt tcp_flags tcp_opt payload_len count";
    READERS.into_iter().map(move |reader| {
        let reader = reader.replace("$FILE", &file.display().to_string());
        let written = file.with_extension("out");
        format!("{reader} -> ToIPSummaryDump({}, FIELDS {FIELDS}) -> IPPrint -> Discard", written.display())
    })
}
