#!/usr/bin/env bash
# Root's clients find the running router from any session: with XDG_RUNTIME_DIR and without, wherever the router's session put its socket.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
clique=${CLIQUE:-$root/target/debug/clique}
skip() { echo "skipped: $*"; exit 0; }
fail() { echo "FAILED: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip "only root has sockets in /run/clique"
[ -x "$clique" ] || skip "$clique is not there; build it, or say CLIQUE=FILE"
# Other routers of this machine are not to be found: /run is another one here.
if [ -z "${PLACES_ALONE:-}" ]; then
  unshare --mount true 2>/dev/null || skip "this machine does not let this user make mount namespaces"
  PLACES_ALONE=1 exec unshare --mount "$0"
fi
mount -t tmpfs none /run
mkdir -p /run/user/0 /run/elsewhere
routers=()
trap '[ ${#routers[@]} = 0 ] || kill "${routers[@]}" 2>/dev/null || true; wait' EXIT

# session DIRECTORY COMMAND...: in a session with this XDG_RUNTIME_DIR, or without one if it is empty.
session() { if [ -n "$1" ]; then XDG_RUNTIME_DIR=$1 "${@:2}"; else env -u XDG_RUNTIME_DIR "${@:2}"; fi; }
# starts DIRECTORY NAME: a router with an element of this name.
starts() {
  if [ -n "$1" ]; then export XDG_RUNTIME_DIR=$1; else unset XDG_RUNTIME_DIR; fi
  "$clique" run -e "$2 :: Idle" &
  routers+=($!)
}
# finds DIRECTORY PATTERN
finds() {
  local said
  for _ in $(seq 100); do
    said=$(session "$1" "$clique" ctl list 2>&1) || true
    ! grep -q "$2" <<<"$said" || { echo "ok: XDG_RUNTIME_DIR=$1 finds $2"; return; }
    sleep 0.1
  done
  fail "XDG_RUNTIME_DIR=$1 does not find $2: $said"
}

starts /run/user/0 login
finds /run/user/0 login
finds "" login
finds /run/elsewhere login
kill "${routers[0]}"; wait "${routers[0]}" || true; routers=()
starts "" system
finds "" system
finds /run/user/0 system
starts /run/user/0 login
finds /run/user/0 "several routers run"
finds "" "several routers run"
finds "" "/run/clique/${routers[0]}.socket"
finds "" "/run/user/0/clique/${routers[1]}.socket"
