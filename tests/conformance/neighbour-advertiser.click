// A packet that is no solicitation is not answered; an ICMP checksum is put right.
InfiniteSource(DATA \<00>, LENGTH 90, LIMIT 1) -> n :: IP6NDAdvertiser(2001:db8::/32 1:1:1:1:1:1) -> a :: Counter -> Discard;
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> ICMPIPEncap(1.0.0.1, 2.0.0.2, 0, 0) -> StoreData(22, \<0000>)
  -> SetICMPChecksum -> CheckICMPHeader -> b :: Counter -> Discard;
ARPTable(); MessageElement("said");
Script(wait 1, stop);
//= config:5: While configuring 'MessageElement@13 :: MessageElement':
//=   said
//? a.count
//= 0
//? b.count
//= 1
