#!/usr/bin/env bash
# The packages as a newcomer has them: the Debian package is installed in a guest, where systemd runs its unit: the router
# forwards, is reloaded and, when it is killed, started again; the OCI image runs as the root of a process. Both contain the program that is tested ($CLIQUE).
source "$(dirname "$0")/lib.sh"

cargo deb --version >/dev/null 2>&1 || skip "cargo-deb is not installed (cargo install cargo-deb)"
command -v systemd-analyze >/dev/null || skip "systemd is not installed"
"$root/packaging/deb.sh" -p "$clique" -o "$work/clique.deb" >/dev/null
"$root/packaging/oci.sh" -p "$clique" -o "$work/image.tar" >/dev/null

# start_systemd: systemd itself, in a PID namespace where it is the first process, with the installed unit and none of this machine's.
# `service ARGUMENT...` is its systemctl.
start_systemd() {
  local units=/run/units target
  mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
  mkdir "$units"
  cp /usr/lib/systemd/system/clique@.service "$units"
  for target in bare basic multi-user network-pre shutdown sysinit; do
    printf '[Unit]\nDefaultDependencies=no\n' >"$units/$target.target"
  done
  unshare --pid --mount --cgroup --fork --mount-proc env -i PATH=/usr/bin:/usr/sbin container=guest SYSTEMD_LOG_TARGET=kmsg \
    SYSTEMD_UNIT_PATH="$units" SYSTEMD_GENERATOR_PATH=/nonexistent /lib/systemd/systemd --system --unit=bare.target >/dev/null 2>&1 &
  wait_for "systemd starts" service is-active bare.target
}
service() {
  local systemd
  systemd=$(pgrep -f '^/lib/systemd/systemd --system') || return
  # A guest's files are a chroot of it.
  SYSTEMD_IGNORE_CHROOT=1 nsenter --target "$systemd" --pid --mount --cgroup --root --wd systemctl --no-pager "$@"
}

inside() {
  source "$root/tests/netns/lib.sh"
  # With a list of packages of its own: the machine's is long, and reading it takes minutes here.
  mkdir -p /run/dpkg/info /run/dpkg/updates
  touch /run/dpkg/status /run/dpkg/available
  packages() { dpkg --admindir=/run/dpkg --force-depends "$@"; }
  says "installed" "Setting up clique" packages -i "$shared/clique.deb"
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
  service start clique@wire || fail "the service does not start: $(service status clique@wire)"
  says "the service counts as started when the router runs" "^c " clique ctl list
  says "the service forwards" " 0% packet loss" ip netns exec hp1 ping -c 3 -i 0.1 -W 10 192.0.2.2
  says "it is watched" "[1-9]" clique ctl read c.count
  # CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE, CAP_IPC_LOCK, CAP_BPF.
  says "with the capabilities that are named and no others" "^CapEff:.0000008000007400$" grep CapEff "/proc/$(pgrep -x clique)/status"
  says "with the unit's filter of system calls" "^Seccomp:.2$" grep Seccomp: "/proc/$(pgrep -x clique)/status"
  wire "c :: Counter -> d :: Counter" >/etc/clique/wire.click
  service reload clique@wire || fail "the right configuration is refused"
  says "reloaded" "^d " clique ctl list
  echo "Cuonter" >/etc/clique/wire.click
  ! service reload clique@wire 2>/dev/null || fail "a wrong configuration is loaded"
  says "the service still forwards" " 0% packet loss" ip netns exec hp1 ping -c 3 -i 0.1 -W 10 192.0.2.2
  wire "c :: Counter" >/etc/clique/wire.click
  pkill -KILL -x clique
  WAIT=60 wait_for "systemd starts a killed one again" ip netns exec hp1 ping -c 1 -W 1 192.0.2.2
  service stop clique@wire
  says "stopped in order" "^ExecMainStatus=0$" service show -p ExecMainStatus clique@wire
  says "removed" "Removing clique" packages -r clique

  mkdir -p "$work/image/root"
  tar -C "$work/image" -xf "$shared/image.tar"
  local layer
  layer=$(python3 - "$work/image" <<'PY'
import json, sys
def blob(description):
    return sys.argv[1] + "/blobs/" + description["digest"].replace(":", "/")
index = json.load(open(sys.argv[1] + "/index.json"))
print(blob(json.load(open(blob(index["manifests"][0])))["layers"][0]))
PY
  )
  tar -C "$work/image/root" -xzf "$layer"
  mkdir -p "$work/image/root/proc" # which every container has
  mount -t proc none "$work/image/root/proc"
  says "the image's program runs without any other file" "^5$" chroot "$work/image/root" /usr/bin/clique run \
    -e 'InfiniteSource(LIMIT 5, STOP true) -> c :: Counter -> Discard' -h c.count
  umount "$work/image/root/proc"
}

guest inside -m 768
echo "package: all good"
