#!/usr/bin/env bash
# The page of `clique run --http` in a browser: the graph, rates on its lines, an element's manual and arguments, costs, flows, a trace, the keyboard, dark, and a
# phone's width.
#
#   tests/page.sh               BROWSER=FILE: another browser than chromium; PICTURES=DIRECTORY: writes pictures there, for people to look at
#
# A test that cannot run here says why and succeeds.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
clique=${CLIQUE:-$root/target/debug/clique}
skip() { echo "skipped: $*"; exit 0; }
fail() { echo "failed: $*" >&2; exit 1; }

browser=${BROWSER:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$browser" ] || skip "chromium is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
[ -x "$clique" ] || skip "$clique is not there; build it, or say CLIQUE=FILE"

work=$(mktemp -d)
router=
finish() {
  [ -z "$router" ] || kill "$router" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

# A packet of UDP from 192.0.2.1 to 198.51.100.2, port 53.
cat >"$work/page.click" <<'CLICK'
elementclass Checked { input -> MarkIPHeader -> ct :: ConnTrack -> output }
src :: RatedSource(\<4500 001c 0000 0000 4011 8e9a c000 0201 c633 6402 1388 0035 0008 0000>, 500, -1)
  -> c :: Counter -> box :: Checked -> GetIPAddress(16) -> no :: IPFilter(allow dst port 53, deny all)
  -> routes :: IPLookup(198.51.100.0/24 0, 0.0.0.0/0 10.0.0.1 1)
  -> t :: Tee(12) -> q :: Queue(100) -> u :: Unqueue -> sink :: Discard;
t[2] -> Discard; t[3] -> Discard; t[4] -> Discard; t[5] -> Discard; t[6] -> Discard; t[7] -> Discard; t[8] -> Discard; t[9] -> Discard; t[10] -> Discard; t[11] -> Discard;
t[1] -> f :: IPFilter(deny all) -> Discard;
routes[1] -> other :: Discard;
Idle -> Strip(14) -> other;
CLICK
# Port 0 is one that is free.
"$clique" run --no-socket --http 0 "$work/page.click" >"$work/log" 2>&1 &
router=$!
url=
for _ in $(seq 300); do
  url=$(grep -o 'http://[0-9.:]*/' "$work/log" || true)
  [ -z "$url" ] || break
  kill -0 "$router" 2>/dev/null || { cat "$work/log"; fail "the router does not start"; }
  sleep 0.1
done
[ -n "$url" ] || fail "the router does not say where its page is"
python3 "$root/tests/page.py" "$browser" "$url" ${PICTURES:+"$PICTURES"}
