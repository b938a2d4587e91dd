# FRR in several namespaces at once. Sourced after lib.sh.

frr=/usr/lib/frr
[ -x $frr/zebra ] || skip "FRR is not installed (apt-get install frr)"
command -v vtysh >/dev/null || skip "vtysh is not installed"

# frr_in NAMESPACE...: a place for each one's files; its daemons end with this script.
frr_in() {
  chmod 755 "$work" # the daemons are not root
  for name in "$@"; do
    install -d -o frr -g frr "$work/$name"
    touch "$work/$name/zebra.conf"
    frr_namespaces+=("$name")
  done
}
frr_namespaces=()

# daemon NAMESPACE NAME ARGUMENTS...: one of FRR's, with files and sockets of its own.
daemon() {
  local namespace=$1 name=$2 directory=$work/$1
  shift 2
  ip netns exec "$namespace" $frr/"$name" -f "$directory/$name.conf" -i "$directory/$name.pid" \
    -z "$directory/zserv" --vty_socket "$directory" "$@" >"$directory/$name.log" 2>&1 &
  disown # the shell does not wait for it, nor says that it was killed
}

# frr_kill NAMESPACE NAME: at once.
frr_kill() { kill -9 "$(cat "$work/$1/$2.pid")"; }

# vty NAMESPACE COMMAND...
vty() {
  local arguments=() command
  for command in "${@:2}"; do arguments+=(-c "$command"); done
  vtysh --vty_socket "$work/$1" "${arguments[@]}"
}

finish_daemons() {
  for name in "${frr_namespaces[@]}"; do ip netns pids "$name" 2>/dev/null | xargs -r kill -9 2>/dev/null || true; done
}
trap 'finish_daemons; finish' EXIT
