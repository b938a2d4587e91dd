#!/usr/bin/env bash
# The tutorial (docs/src/tutorial.md) as it is written, with the program that is tested ($CLIQUE) in the place of the package's. Its names
# are its own: namespaces, processes, and what it writes below /etc and /run are seen by nothing else, and end with it.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
clique=$(realpath -m "${CLIQUE:-$root/target/debug/clique}")
chapter=$root/docs/src/tutorial.md

skip() { echo "skipped: $*"; exit 0; }

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || skip "network namespaces need root"
  [ -x "$clique" ] || skip "$clique is not there; build it, or say CLIQUE=FILE"
  [ -x /usr/lib/frr/bgpd ] || skip "FRR is not installed (apt-get install frr)"
  for program in ip ping python3 vtysh curl; do command -v "$program" >/dev/null || skip "$program is not installed"; done
  "$clique" run --help | grep -q -e --http || skip "$clique has no page; build it with '--features http'"
  unshare --mount --net true 2>/dev/null || skip "this machine does not let this user make network namespaces"
  CLIQUE=$clique timeout --kill-after=5 "${WAIT:-120}" unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside ||
    { echo "FAILED: the tutorial" >&2; exit 1; }
  exit 0
fi

# Here nothing that the machine's own daemons have written is in sight.
for directory in /run /var/tmp /etc/frr /usr/share/doc; do mount -t tmpfs none "$directory"; done
mkdir -p /usr/share/doc/clique/examples /run/tutorial/bin /run/tutorial/work
cp "$root"/conf/*.click /usr/share/doc/clique/examples/
ln -s "$clique" /run/tutorial/bin/clique
cd /run/tutorial/work
python3 "$root/tests/netns/tutorial.py" script "$chapter" >../script
unset XDG_RUNTIME_DIR CLIQUE
PATH=/run/tutorial/bin:$PATH bash ../script || { cat router.log 2>/dev/null; exit 1; }
echo "tutorial: all good"
