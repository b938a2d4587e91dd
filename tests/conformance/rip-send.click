// Announcements come after 3 seconds and then every 30.
RIPSend(18.26.4.24, 18.26.4.255, 10.0.0.0/8, 10) -> CheckIPHeader -> CheckUDPHeader -> c :: Counter
  -> Strip(28) -> Print(MAXLENGTH 24) -> Discard; Script(wait 34, stop);
//=   24 | 02020000 00020000 0a000000 ff000000 121a0418 0000000a
//=   24 | 02020000 00020000 0a000000 ff000000 121a0418 0000000a
//? c.byte_count
//= 104
