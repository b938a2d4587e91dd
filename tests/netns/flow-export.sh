#!/usr/bin/env bash
# Flows through a router are exported by IPFIX and NetFlow version 9 to Debian's nfcapd; what nfdump reads there is what a host has sent and
# received, as another program counts it. So are the translations of a NAT and the connections of a firewall.
source "$(dirname "$0")/lib.sh" nfcapd nfdump

build

# The configuration without what leads from its ports, as a file. The host counts packets, which are not merged for it on their way.
without_ports() {
  grep -vE '^p[01]\[0\] -> routes; p[01]\[1\] -> routes6;$' "$root/conf/linux-router.click" |
    sed 's/ToDevice(\$device,/& GSO false,/' >"$work/router.click"
}

# All that arrives passes the exporter before it is routed.
accounting='
fx :: FlowExporter(VERSION $VERSION, BIFLOW $BIFLOW, ESTIMATES $ESTIMATES, IDLE_TIMEOUT 1, ACTIVE_TIMEOUT 1);
p0[0] -> [0]fx[0] -> routes; p0[1] -> [1]fx[1] -> routes6;
p1[0] -> [2]fx[2] -> routes; p1[1] -> [3]fx[3] -> routes6;
fx[4] -> Queue -> ToSocket(UDP, 127.0.0.1, 2055);'
without_ports
echo "$accounting" >>"$work/router.click"
sed -i '0,/^define(/s//define($VERSION 10, $BIFLOW true, $ESTIMATES false, /' "$work/router.click"

collect() { # DIRECTORY: flows go there from now on
  mkdir "$1"
  ip netns exec "$r" nfcapd -w "$1" -l "$1" -b 127.0.0.1 -p 2055 -t 3600 >"$1.log" 2>&1 &
  collector=$!
  wait_for "a collector listens" bash -c "ip netns exec '$r' ss -lun | grep -q '127.0.0.1:2055'"
}

in_h2 python3 "$root/tests/netns/flow-export.py" serve 10.0.2.2 2001:db8:2::2 >/dev/null &
while read -r version workers biflow estimates; do
  what="version $version, $workers workers, both directions together $biflow, estimates $estimates"
  here=$work/flows-$version-$biflow-$estimates
  collect "$here"
  launch -u "$work/socket" -j"$workers" "$work/router.click" VERSION="$version" BIFLOW="$biflow" ESTIMATES="$estimates"
  in_h1 python3 "$root/tests/netns/flow-export.py" ask 10.0.2.2 2001:db8:2::2 >"$work/sent" </dev/null || fail "$what: no answers"
  wait_for "all flows are exported" is fx.count 0
  says "none is dropped" "^0$" ctl read fx.dropped
  stop
  kill "$collector"
  wait "$collector" || true
  nfdump -o json -R "$here" >"$work/collected"
  python3 "$root/tests/netns/flow-export.py" compare "$work/sent" "$work/collected" ||
    fail "$what: $(head -c 3000 "$work/collected"; cat "$here.log")"
  echo "ok: $what"
done <<'RUNS'
10 2 true false
10 1 false false
9 1 true false
10 1 true true
9 1 true true
RUNS

# Between them a NAT and a firewall, which tell what happens to flows.
events='
fx :: FlowExporter(VERSION $VERSION, EVENTS rw ct); Idle -> fx -> Discard;
fx[1] -> Queue -> ToSocket(UDP, 127.0.0.1, 2055);
ct :: ConnTrack; rw :: IPRewriter(pattern 10.0.2.1 20000-29999# - - 0 1, pass 1);
p0[0] -> [0]ct[0] -> out :: IPClassifier(tcp or udp, -) -> rw -> routes; out[1] -> routes;
p1[0] -> [1]rw[1] -> [1]ct[1] -> routes; p0[1] -> routes6; p1[1] -> routes6;'
without_ports
echo "$events" >>"$work/router.click"
sed -i '0,/^define(/s//define($VERSION 10, /' "$work/router.click"
for version in 10 9; do
  here=$work/events-$version
  collect "$here"
  launch -u "$work/socket" -j2 "$work/router.click" VERSION="$version"
  in_h1 python3 "$root/tests/netns/flow-export.py" ask 10.0.2.2 >"$work/sent" </dev/null || fail "events, version $version: no answers"
  flows=$(ctl read rw.table_size) connections=$(ctl read ct.count)
  ctl write rw.kill ""
  ctl write ct.kill ""
  wait_for "all events are exported" is fx.exported $((2 * (flows + connections)))
  says "none is dropped" "^0$" ctl read fx.dropped
  stop
  kill "$collector"
  wait "$collector" || true
  nfdump -o json -R "$here" >"$work/collected"
  python3 "$root/tests/netns/flow-export.py" events "$work/sent" "$work/collected" ||
    fail "events, version $version: $(head -c 3000 "$work/collected"; cat "$here.log")"
  echo "ok: events, version $version"
done

# The same with pmacct's collectors, of flows and of samples, and with sfcapd: all packets are samples here. One agent also reports what the router drops. No
# collector that Debian has knows such reports: they have to pass over them and lose no sample, and flow-export.py reads the reports itself.
missing=
for program in nfacctd sfacctd sfcapd tcpdump tshark; do
  command -v "$program" >/dev/null || missing+=" $program"
done
[ -z "$missing" ] || { echo "skipped: not installed:$missing"; exit 0; }
sampling='
fx :: FlowExporter(BIFLOW false, IDLE_TIMEOUT 1, ACTIVE_TIMEOUT 1, STATISTICS true);
p0[0] -> s0 :: SFlowAgent(1, 10.0.2.1, SUB_AGENT 0, IFINDEX 7, DROPS 1000) -> [0]fx[0] -> IPFilter(deny udp dst port 7003, allow all) -> routes;
p0[1] -> s1 :: SFlowAgent(1, 10.0.2.1, SUB_AGENT 10) -> [1]fx[1] -> routes6;
p1[0] -> s2 :: SFlowAgent(1, 10.0.2.1, SUB_AGENT 20) -> [2]fx[2] -> routes; p1[1] -> s3 :: SFlowAgent(1, 10.0.2.1, SUB_AGENT 30) -> [3]fx[3] -> routes6;
fx[4] -> Queue -> ToSocket(UDP, 127.0.0.1, 2055);
samples :: Tee(2); s0[1] -> samples; s1[1] -> samples; s2[1] -> samples; s3[1] -> samples;
samples[0] -> Queue(4000) -> ToSocket(UDP, 127.0.0.1, 6343); samples[1] -> Queue(4000) -> ToSocket(UDP, 127.0.0.1, 6344);'
without_ports
echo "$sampling" >>"$work/router.click"
pmacct() { # PROGRAM PORT DIRECTORY
  cat >"$3/$1.conf" <<CONF
$1_ip: 127.0.0.1
$1_port: $2
plugins: print
aggregate: src_host, dst_host, src_port, dst_port, proto
print_refresh_time: 1
print_output: json
print_output_file: $3/$1.json
print_output_file_append: true
CONF
  ip netns exec "$r" "$1" -f "$3/$1.conf" >"$3/$1.log" 2>&1 &
}
here=$work/samples
mkdir -p "$here/sfcapd"
pmacct nfacctd 2055 "$here"
pmacct sfacctd 6343 "$here"
ip netns exec "$r" sfcapd -w "$here/sfcapd" -l "$here/sfcapd" -b 127.0.0.1 -p 6344 -t 3600 >"$here/sfcapd.log" 2>&1 &
collector=$!
ip netns exec "$r" tcpdump -i lo -U -B 16384 -w "$here/sflow.pcap" udp dst port 6343 2>"$here/tcpdump.log" &
wait_for "collectors listen" bash -c "[ \$(ip netns exec '$r' ss -lun | grep -cE '127.0.0.1:(2055|6343|6344)') = 3 ]"
wait_for "a capture runs" grep -q "listening on" "$here/tcpdump.log"
launch -u "$work/socket" -j2 "$work/router.click"
in_h1 python3 "$root/tests/netns/flow-export.py" ask 10.0.2.2 2001:db8:2::2 >"$work/sent" </dev/null || fail "samples: no answers"
in_h1 python3 "$root/tests/netns/flow-export.py" lose 10.0.2.2 300
wait_for "all flows are exported" is fx.count 0
wait_for "what was dropped is reported" at_least s0.discards 300
sleep 2 # samples wait half a second, and pmacct writes once a second
stop
kill "$collector"
wait "$collector" || true
ip netns pids "$r" | xargs -r kill || true
sleep 1
ip netns pids "$r" | xargs -r kill -KILL || true # pmacct waits for packets before it heeds a signal
for program in nfacctd sfacctd; do
  python3 "$root/tests/netns/flow-export.py" pmacct "$work/sent" "$here/$program.json" ||
    fail "$program: $(head -c 2000 "$here/$program.json"; tail -n 5 "$here/$program.log")"
  echo "ok: $program"
done
nfdump -o json -R "$here/sfcapd" >"$here/sfcapd.json"
python3 "$root/tests/netns/flow-export.py" compare "$work/sent" "$here/sfcapd.json" ||
  fail "sfcapd: $(head -c 2000 "$here/sfcapd.json"; tail -n 5 "$here/sfcapd.log")"
echo "ok: sfcapd"
python3 "$root/tests/netns/flow-export.py" drops "$here/sflow.pcap" 10.0.1.2 10.0.2.2 300 || fail "reports of dropped packets"
tshark -r "$here/sflow.pcap" -d udp.port==6343,sflow -T fields -e sflow_245.numsamples -e sflow_245.sampletype -e _ws.malformed >"$here/tshark" 2>"$here/tshark.log"
python3 "$root/tests/netns/flow-export.py" kinds "$here/sflow.pcap" "$here/tshark" || fail "tshark: $(head -n 3 "$here/tshark"; cat "$here/tshark.log")"
echo "ok: reports of dropped packets"
