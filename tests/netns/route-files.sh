#!/usr/bin/env bash
# What `ip route` prints of a table of random routes (STEPS of them, default 400, from SEED), in all its forms: `clique routes` reads the same from
# each, and finds for addresses what `ip route get` finds. About 30 s.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
clique=${CLIQUE:-$root/target/debug/clique}
ns=route-files-$$

skip() { echo "skipped: $*"; exit 0; }

[ "$(id -u)" = 0 ] || skip "network namespaces need root"
[ -x "$clique" ] || skip "$clique is not there; build it, or say CLIQUE=FILE"
for program in ip python3; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
ip netns add "$ns" 2>/dev/null || skip "this machine does not let this user make network namespaces"
trap 'ip netns del "$ns"' EXIT
ip netns exec "$ns" python3 "$(dirname "$0")/route-files.py" "$clique" "${SEED:-1}" "${STEPS:-400}"
