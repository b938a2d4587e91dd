#!/usr/bin/env bash
# An interface that takes a two-hundredth of what is pushed to it: all control frames leave all the same, in their order, and each other packet is counted.
# Some seconds.
source "$(dirname "$0")/lib.sh" tc
build
tc -n "$r" qdisc add dev eth1 root tbf rate 2mbit burst 2000 limit 10000 2>/dev/null || skip "this kernel has no tbf"

# All frames are of one length: small ones would find room where others do not. For each place that becomes free there are two hundred frames of data: if they
# were tried while control frames wait, they would take most places.
hellos=300 data=300000
cat >"$work/sends.click" <<END
out :: ToDevice(eth1);
hello :: RatedSource(\\<020000000202 020000000201 88cc>, LENGTH 500, RATE 100, LIMIT $hellos) -> NumberPacket(14, NET_ORDER true) -> out;
data :: RatedSource(\\<020000000202 020000000201 8801>, LENGTH 500, RATE 100000, LIMIT $data) -> out;
END
ip netns exec "$h2" "$clique" run -u "$work/receives" -e 'FromDevice(h2e, PROMISC true) -> c :: Classifier(12/88cc, 12/8801, -);
  c[0] -> Print(hello, 22) -> hellos :: Counter -> Discard; c[1] -> data :: Counter -> Discard; c[2] -> Discard' >"$work/receives.log" 2>&1 &
receives() { "$clique" ctl -u "$work/receives" read "$1" 2>/dev/null; }
wait_for "a receiver" receives version >/dev/null
launch -u "$work/socket" "$work/sends.click"
is_over() { is hello.count $hellos && is data.count $data; }
wait_for "all is sent" is_over
all_hellos() { [ "$(receives hellos.count)" = $hellos ]; }
(WAIT=5 wait_for "each of $hellos control frames arrives" all_hellos) || fail "$(ctl read out.drop_reasons)"
says "in their order" "^$hellos$" eval "grep ^hello '$work/receives.log' | LC_ALL=C sort -uc && grep -c ^hello '$work/receives.log'"
dropped=$(ctl read out.drop_reasons | awk '{ sum += $1 } END { print sum + 0 }')
says "no control frame is dropped" "^$" eval 'ctl read out.drop_reasons | grep "control frames"'
[ "$dropped" -gt 20000 ] || fail "the interface was not full: $dropped packets dropped"
[ $(($(ctl read out.count) + dropped)) = $((hellos + data)) ] || fail "$(ctl read out.count) sent, $dropped dropped"
echo "ok: $(ctl read out.count) packets sent, $dropped dropped, none unaccounted for"
stop
