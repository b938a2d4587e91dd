#!/usr/bin/env bash
# Links that lose and reorder, with Clique between them: it forwards what they deliver, all of it, in the order in which it came.
source "$(dirname "$0")/lib.sh"

# watch NAMESPACE INTERFACE TYPE FILE [INTERFACE TYPE FILE]: the identifiers of the ICMP packets of a type that arrive there.
watch() {
  local namespace=$1 configuration=""
  shift
  while [ $# -gt 0 ]; do
    configuration+="FromDevice($1) -> Classifier(12/0800) -> Strip(14) -> CheckIPHeader
      -> IPClassifier(icmp type $2) -> IPPrint(ID true, TIMESTAMP false, OUTFILE $3) -> Discard; "
    shift 3
  done
  ip netns exec "$namespace" "$clique" run -e "$configuration" 2>>"$work/log" &
  watchers+=($!)
}
# same_order WHAT CAME LEFT: what came to the router is what left it, in that order.
same_order() {
  [ -s "$2" ] || fail "$1: nothing came"
  says "$1: each has another identifier" "^$(wc -l <"$2")$" eval "sort -u $2 | wc -l"
  diff "$2" "$3" >"$work/difference" || fail "$1: another order, or other packets: $(head -n 20 "$work/difference")"
  echo "ok: $1: $(wc -l <"$2") packets leave in the order in which they came"
}
# What netem has dropped on an interface.
dropped() { tc -n "$1" -s qdisc show dev "$2" | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'; }

inside() {
  source "$root/tests/netns/lib.sh"
  build
  kernel_forwards
  watchers=()
  take
  forwards "before" 5
  tc -n "$h1" qdisc add dev h1e root netem delay 20ms 15ms reorder 30% loss 10%
  tc -n "$h2" qdisc add dev h2e root netem delay 20ms 5ms loss 10%
  watch "$r" eth0 echo "$work/asked" eth1 echo-reply "$work/answered"
  watch "$h2" h2e echo "$work/questions"
  watch "$h1" h1e echo-reply "$work/answers"
  sleep 3
  # Neighbours stay known, or lost questions would delay packets; the errors of netem are for the probes alone.
  for pair in "$h1 h1e 10.0.1.1" "$h2 h2e 10.0.2.1"; do
    read -r namespace interface address <<<"$pair"
    ip -n "$namespace" neigh change "$address" dev "$interface" nud permanent
  done
  in_h1 ping -c 300 -i 0.02 -W 10 10.0.2.2 >"$work/pings" || true
  sleep 3
  kill "${watchers[@]}"
  wait "${watchers[@]}" || true
  # Not only probes: neighbour discovery loses its share.
  says "netem loses" "^[1-9][0-9]+$" echo "$(($(dropped "$h1" h1e) + $(dropped "$h2" h2e)))"
  says "the others come back" " $(wc -l <"$work/answers") received" cat "$work/pings"
  says "netem reorders" "^[1-9]" awk -F'icmp_seq=' 'NF > 1 { n = $2 + 0; late += n < last; last = n } END { print late }' "$work/pings"
  same_order "questions" "$work/asked" "$work/questions"
  same_order "answers" "$work/answered" "$work/answers"
  transfers "loss and reordering" 10.0.2.2 100000
  transfers "loss and reordering" 2001:db8:2::2 100000
  counts_agree "loss and reordering"
  stop
}
guest inside
