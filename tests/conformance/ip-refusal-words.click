// What elements of IP and tables of routes refuse, they refuse in Click's words.
//! workers 1
Idle -> ie :: IPEncap(tcp, 1.2.3.4, 5.6.7.8) -> Discard;
Idle -> i6 :: IP6Encap(tcp, ::1, ::2) -> Discard;
Idle -> st :: StaticIPLookup(0/0 0) -> Discard;
Script(writeq ie.dst x, writeq i6.src x, writeq i6.dst x, writeq st.add 1.0.0.0/8 0, print $(st.lookup x), stop);
//= While executing 'Script@10 :: Script':
//=   While calling 'ie.dst x':
//=     DST argument should be IP address or 'DST_ANNO'
//=   While calling 'i6.src x':
//=     SRC: parse error
//=   While calling 'i6.dst x':
//=     DST argument should be IP address or 'DST_ANNO'
//=   no 'st.add' write handler
//=   expected IP address
//! then
Idle -> ICMPIPEncap(1.0.0.1, 2.0.0.2, nothing) -> ICMPIPEncap(1.0.0.1, 2.0.0.2, 256) -> IP6Encap(nothing, ::1, ::2) -> IP6Encap(256, ::1, ::2)
  -> IPFilter(allow echo) -> Discard;
//! error TYPE: parse error
//! error invalid TYPE
//! error PROTO: parse error
//! error bad IP protocol
//! error '<none>  echo' is ambiguous; try 'port  echo', 'port  echo', 'icmp type  echo'
//! then
Idle -> IPPrint(OUTFILE /nonexistent/x) -> Discard;
//! error /nonexistent/x: No such file or directory
