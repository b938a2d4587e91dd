# For how long pings fail while something happens. Sourced by scripts that have said `in_host` and how many `pings` there are.

# window WHAT COMMAND...: it happens after half a second of pings, one each millisecond if the machine manages that, from host 0 to host 2.
window() {
  local what=$1 action
  shift
  (sleep 0.5; "$@") &
  action=$!
  in_host 0 ping -D -n -i 0.001 -c $pings -W 1 10.0.2.2 >"$work/pings" || true
  wait $action
  # From the last answer before the first lost ping to the first after the last: pings whose answers do not come are farther apart. An answer
  # that comes after half a second is none: a node that was paused for longer passes on what has waited for it.
  awk -v what="$what" '
    match($0, /time=[0-9.]+/) { late = substr($0, RSTART + 5, RLENGTH - 5) + 0 > 500 }
    !late && match($0, /icmp_seq=[0-9]+/) { got[substr($0, RSTART + 9, RLENGTH - 9) + 0] = substr($1, 2, length($1) - 2) }
    / packets transmitted/ { sent = $1; sub(/ms/, "", $NF); took = $NF + 0 }
    END {
      for (i = 1; i <= sent; i++) if (!(i in got)) { lost++; if (!first) first = i; last = i }
      # If none comes after the last lost one, to the end.
      after = last < sent ? got[last + 1] : got[first - 1] + (last - first + 2) * took / sent / 1000
      window = lost ? (after - got[first - 1]) * 1000 : 0
      printf "{ \"what\": \"%s\", \"sent\": %d, \"lost\": %d, \"window_ms\": %.1f, \"ms_between_pings\": %.2f }", what, sent,
        lost, window, took / sent
    }' "$work/pings"
}

# rows ROW...: JSON objects, a line each.
rows() {
  local separator=
  for row in "$@"; do
    printf '%s  %s' "$separator" "$row"
    separator=$',\n'
  done
}
