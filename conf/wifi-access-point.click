// An access point for wireless stations, and a station that joins it, says something to a host behind it, and is
// answered. Here both stand in one configuration, and the air between them is a connection.
//
//   clique run --simtime conf/wifi-access-point.click
//
// With an interface in monitor mode on the network's channel, what is below up to 'The trial', and then, where the
// host's interface to the stations is to be 'ap0':
//
//   FromDevice(mon0) -> RadiotapDecap -> FilterPhyErr -> FilterTX -> WifiDupeFilter -> ap
//     -> SetTXRate(2) -> RadiotapEncap -> Queue -> ToDevice(mon0);
//   FromHost(ap0, 10.0.0.1/24, ETHER 2:0:0:0:0:1) -> [1] ap [1] -> ToHost(ap0);
//
// Nothing is encrypted: any station that is near can join. For WPA let hostapd(8) be the access point.

network :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6);
rates :: AvailableRates(DEFAULT 2 4 11 22);

// Input 0 and output 0: frames from and to the air. Input 1 and output 1: Ethernet frames from and to the wire.
ap :: {
  input[0] -> kind :: Classifier(0/08%0c 1/01%03, 0/00%fc, 0/20%fc, 0/40%fc, 0/b0%fc, 0/a0%fc, 0/c0%fc, -);

  // What is for the wire.
  kind[0] -> WifiDecap -> [1] output;

  // Stations that look for networks, say who they are, join, leave. Beacons go out by themselves.
  kind[3] -> BeaconSource(WIRELESS_INFO network, RT rates) -> air :: Null;
  kind[4] -> OpenAuthResponder(WIRELESS_INFO network) -> air;
  kind[1], kind[2], kind[5], kind[6] -> members :: AssociationResponder(WIRELESS_INFO network, RT rates) -> air;
  kind[7] -> Discard;

  // What is from the wire.
  input[1] -> WifiEncap(2, WIRELESS_INFO network) -> air;
  air -> output;
}

// The trial: a station.
joined :: WirelessInfo(SSID lab, CHANNEL 6);
abilities :: AvailableRates(DEFAULT 2 4 11 22);

ap -> downward :: PrintWifi(ap) -> sort :: Classifier(0/80%fc, 0/50%fc, 0/b0%fc, 0/10%fc, 0/08%0c, -);
up :: PrintWifi(sta) -> ap;

sort[0], sort[1] -> scanner :: BeaconScanner(RT abilities) -> Discard;
sort[2] -> authentication :: OpenAuthRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO joined) -> up;
sort[3] -> association :: AssociationRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO joined, RT abilities) -> up;
sort[4] -> WifiDecap -> Print(station, -1) -> Discard;
sort[5] -> Discard;
probe :: ProbeRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO joined, RT abilities) -> up;

// It says 'hello', and the host on the wire sends every frame back.
hello :: RatedSource(DATA \<020000000009 020000000005 0800 68656c6c6f>, ACTIVE false, LIMIT 1)
  -> WifiEncap(1, WIRELESS_INFO joined) -> up;
ap[1] -> Print(host, -1) -> EtherMirror -> [1] ap;

Script(write probe.send_probe,
  write joined.bssid 2:0:0:0:0:1,
  write authentication.send_auth_req,
  write association.send_assoc_req,
  write hello.active true,
  wait 0.11,
  print "authenticated $(authentication.authenticated), associated $(association.associated)",
  stop);

//= sta:   35 |  0Mb + 0/ 0 | mgmt probe_req ssid lab ({2} 4 11 22) FF-FF-FF-FF-FF-FF 02-00-00-00-00-05 FF-FF-FF-FF-FF-FF seq 0 [ ] 
//= ap:   50 |  0Mb + 0/ 0 | mgmt probe_resp 02-00-00-00-00-01 lab chan 6 b_int 100 [ ESS ] ({2} 4 11 22)
//= sta:   30 |  0Mb + 0/ 0 | mgmt auth alg 0 auth_seq 1 status success 02-00-00-00-00-01 02-00-00-00-00-05 02-00-00-00-00-01 seq 0 [ ] 
//= ap:   30 |  0Mb + 0/ 0 | mgmt auth alg 0 auth_seq 2 status success 02-00-00-00-00-05 02-00-00-00-00-01 02-00-00-00-00-01 seq 0 [ ] 
//= sta:   39 |  0Mb + 0/ 0 | mgmt assoc_req listen_int 100 [ESS] ssid lab rates ({2} 4 11 22) 02-00-00-00-00-01 02-00-00-00-00-05 02-00-00-00-00-01 seq 0 [ ] 
//= ap:   36 |  0Mb + 0/ 0 | mgmt assoc_resp [ESS] status 0 success associd 49153 02-00-00-00-00-05 02-00-00-00-00-01 02-00-00-00-00-01 seq 0 [ ] 
//= sta:   37 |  0Mb + 0/ 0 | data tods 02-00-00-00-00-01 02-00-00-00-00-05 02-00-00-00-00-09 seq 0 [ ] 
//= host:   19 | 02000000 00090200 00000005 08006865 6c6c6f
//= ap:   37 |  0Mb + 0/ 0 | data frds 02-00-00-00-00-05 02-00-00-00-00-01 02-00-00-00-00-09 seq 0 [ ] 
//= station:   19 | 02000000 00050200 00000009 08006865 6c6c6f
//= ap:   56 |  0Mb + 0/ 0 | mgmt beacon 02-00-00-00-00-01 lab chan 6 b_int 100 [ ESS ] ({2} 4 11 22)
//= authenticated true, associated true
//? ap/members.stations
//= 02-00-00-00-00-05 1
