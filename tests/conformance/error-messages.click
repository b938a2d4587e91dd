// What is wrong with arguments is said in Click's words.
Idle -> Paint(foo) -> Strip(-1) -> SetIPAddress(x) -> EtherEncap(0x10000, 1:2, 2:2:2:2:2:2) -> IPEncap(foo, 1.0.0.1, 1.0.0.2)
  -> Print(CONTENTS octal) -> Paint(1, ANNO 100) -> Print(MAXLENGTH 99999999999) -> IPPrint(MAXLENGTH -99999999999) -> Discard;
//! error COLOR: invalid number
//! error LENGTH: invalid number
//! error IPADDR: parse error
//! error ETHERTYPE: out of range, bound 65535
//! error SRC: parse error
//! error PROTO: parse error
//! error bad contents value 'OCTAL'; should be 'NONE', 'HEX', or 'ASCII'
//! error ANNO: parse error
//! error MAXLENGTH: out of range, bound 2147483647
//! error MAXLENGTH: out of range, bound -2147483648
