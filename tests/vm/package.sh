#!/usr/bin/env bash
# The packages as a newcomer has them: the Debian package is installed in a guest, where systemd starts a router from its unit, which forwards,
# is reloaded and ends; the OCI image runs as the root of a process. Both contain the program that is tested ($CLIQUE).
source "$(dirname "$0")/lib.sh"

cargo deb --version >/dev/null 2>&1 || skip "cargo-deb is not installed (cargo install cargo-deb)"
[ -x /lib/systemd/systemd ] || skip "systemd is not installed"
"$root/packaging/deb.sh" -p "$clique" -o "$work/clique.deb" >/dev/null
"$root/packaging/oci.sh" -p "$clique" -o "$work/image.tar" >/dev/null

# This guest's root is not where its kernel's is, which systemctl would take for no system at all.
export SYSTEMD_IGNORE_CHROOT=1

# systemd in a namespace of process numbers of its own, with no more than what it needs to start services.
start_systemd() {
  mkdir -p /run/systemd/system
  cat >/run/systemd/system/small.target <<'UNIT'
[Unit]
Description=What this test needs
Wants=systemd-journald.socket systemd-journald.service
AllowIsolate=yes
UNIT
  unshare --fork --pid --mount-proc env container=guest /lib/systemd/systemd --system --unit=small.target >/run/systemd.out 2>&1 &
  disown # the guest's end is its end
  for _ in $(seq 600); do
    systemctl is-active --quiet small.target 2>/dev/null && return
    sleep 0.2
  done
  cat /run/systemd.out >&2
  fail "systemd does not start"
}

inside() {
  source "$root/tests/netns/lib.sh"
  says "installed" "Setting up clique" dpkg -i "$shared/clique.deb"
  says "the program" "^clique [0-9]" /usr/bin/clique --version
  says "by Click's name" "^click" /usr/bin/click --version
  says "a tool by its name" "Counter" bash -c 'echo "Idle -> Counter -> Discard" | /usr/bin/click-pretty'
  says "a manual page" "CLIQUE-RUN" zcat /usr/share/man/man1/clique-run.1.gz
  for example in /usr/share/doc/clique/examples/print.click /usr/share/doc/clique/examples/nat.click; do
    /usr/bin/clique check "$example" >/dev/null || fail "$example"
  done
  cp /usr/lib/systemd/system/clique@.service /run/clique@here.service
  says "the unit is right" "^$" systemd-analyze verify /run/clique@here.service
  local exposure
  exposure=$(systemd-analyze security --offline=yes --no-pager /run/clique@here.service | grep -oE 'exposure level.*: [0-9.]+' | grep -oE '[0-9.]+$')
  awk -v e="$exposure" 'BEGIN { exit !(e <= 3.0) }' || fail "the unit is exposed by $exposure"
  echo "ok: systemd-analyze security: $exposure"

  local host
  for host in 1 2; do
    ip netns add "hp$host"
    ip link add "wire$host" type veth peer name e0 netns "hp$host"
    ip link set "wire$host" up
    ip -n "hp$host" addr add "192.0.2.$host/24" dev e0
    ip -n "hp$host" link set e0 up
  done
  wire() { echo "FromDevice(\$A) -> $1 -> Queue -> ToDevice(\$B); FromDevice(\$B) -> Queue -> ToDevice(\$A)"; }
  wire "c :: Counter" >/etc/clique/wire.click
  echo "ARGUMENTS=A=wire1 B=wire2" >/etc/clique/wire.env
  start_systemd
  systemctl start clique@wire || { journalctl --no-pager -u clique@wire >&2; fail "the service does not start"; }
  says "the service forwards" " 0% packet loss" ip netns exec hp1 ping -c 3 -i 0.1 -W 10 192.0.2.2
  says "it is watched" "[1-9]" clique ctl -u /run/clique/wire/socket read c.count
  local pid
  pid=$(pgrep -f 'clique run -R')
  # CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE, CAP_IPC_LOCK, CAP_BPF.
  says "with the capabilities that are named and no others" "^CapEff:.0000008000007400$" grep CapEff "/proc/$pid/status"
  wire "c :: Counter -> d :: Counter" >/etc/clique/wire.click
  systemctl reload clique@wire
  says "reloaded" "d" clique ctl -u /run/clique/wire/socket list
  echo "Cuonter" >/etc/clique/wire.click
  ! systemctl reload clique@wire 2>/dev/null || fail "a wrong configuration is loaded"
  says "what is wrong stands in the journal" "Cuonter" journalctl --no-pager -u clique@wire
  says "the service still forwards" " 0% packet loss" ip netns exec hp1 ping -c 3 -i 0.1 -W 10 192.0.2.2
  systemctl stop clique@wire
  says "stopped" "^inactive$" systemctl is-active clique@wire
  says "removed" "Removing clique" dpkg -r clique

  mkdir -p "$work/image/root"
  tar -C "$work/image" -xf "$shared/image.tar"
  local layer
  layer=$(grep -ho '"layers".*sha256:[0-9a-f]*' "$work"/image/blobs/sha256/* 2>/dev/null | grep -o '[0-9a-f]*$' | head -n 1)
  tar -C "$work/image/root" -xzf "$work/image/blobs/sha256/$layer"
  says "the image's program runs without any other file" "^5$" chroot "$work/image/root" /usr/bin/clique run \
    -e 'InfiniteSource(LIMIT 5, STOP true) -> c :: Counter -> Discard' -h c.count
}

guest inside -m 768
echo "package: all good"
