#!/usr/bin/env bash
# Runs a command on this machine's files under another kernel: Debian's cloud kernel, which has VLANs, VRFs, ESP, MPLS, netem and network cards
# with several queues, in QEMU. About six seconds until the command starts; no KVM, since many machines that run tests have none.
#
#   guest.sh [OPTION...] COMMAND [ARGUMENT...]
#
#   -w DIRECTORY    what the guest writes here stays (and other guests see it); it may write anywhere else,
#                   too, but that is lost at its end
#   -n CABLE/END    a network card (eth0, eth1, ... in this order) whose cable is the UNIX-domain socket CABLE.END; two guests with the ends
#                   'a' and 'b' of one cable are joined
#   -n tap:NAME[:Q] a network card on the TAP interface NAME of this machine, with Q queues (default 1)
#   -c N            processors (default 1)
#   -m MIB          memory (default 512)
#   -t SECONDS      the guest is ended after that (default 600)
#   -l FILE         what its kernel says (default: shown if the guest ends without the command's status)
#   -k              runs nothing: says whether this machine can run a guest, and fetches the kernel
#
# COMMAND gets this call's environment and directory, and is root. Its output is this program's, without what the kernel says; its exit status, too:
# 125 if the guest ended otherwise, and 77 if this machine cannot run one, with the reason on standard error. Modules are loaded when they
# are asked for. A card's address is 02:00:00:xx:xx:0N, the same for the same cable end.
#
# It needs root and the packages qemu-system-x86, busybox-static, cpio, kmod and (since Debian 13) virtiofsd. The kernel is fetched once with
# `apt-get download` into $VM_CACHE (default: target/vm).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${VM_CACHE:-$root/target/vm}
writable= cards=() processors=1 memory=512 limit=600 log= only_check=

cannot() { echo "no guest: $*" >&2; exit 77; }

while getopts "w:n:c:m:t:l:k" option; do
  case $option in
    w) writable=$(realpath "$OPTARG") ;;
    n) cards+=("$OPTARG") ;;
    c) processors=$OPTARG ;;
    m) memory=$OPTARG ;;
    t) limit=$OPTARG ;;
    l) log=$OPTARG ;;
    k) only_check=1 ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || [ -n "$only_check" ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }

[ "$(id -u)" = 0 ] || cannot "it needs root"
[ "$(uname -m)" = x86_64 ] || cannot "this machine is no x86_64"
for program in qemu-system-x86_64 /bin/busybox cpio modprobe depmod; do
  command -v "$program" >/dev/null || cannot "$program is not installed (apt-get install qemu-system-x86 busybox-static cpio kmod)"
done
for virtiofsd in /usr/libexec/virtiofsd /usr/lib/qemu/virtiofsd ""; do [ ! -x "$virtiofsd" ] || break; done
[ -n "$virtiofsd" ] || cannot "virtiofsd is not installed (apt-get install virtiofsd)"

# The kernel, unpacked, with the list of its modules: $cache/kernel.
fetch_kernel() {
  local package
  command -v apt-get >/dev/null || cannot "there is no apt-get to fetch Debian's kernel with"
  package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }')
  [ -n "$package" ] || cannot "apt-get knows no linux-image-cloud-amd64 (apt-get update)"
  rm -rf "$cache/new"
  mkdir "$cache/new"
  (cd "$cache/new" && apt-get download -q -o APT::Sandbox::User=root "$package" >/dev/null) || cannot "$package cannot be downloaded"
  dpkg -x "$cache/new"/*.deb "$cache/new"
  depmod -b "$cache/new" "$(ls "$cache/new/lib/modules")"
  rm -f "$cache/new"/*.deb
  mv "$cache/new" "$cache/kernel"
}
mkdir -p "$cache"
(
  flock 9 # several guests may start at once
  [ -d "$cache/kernel" ] || fetch_kernel
) 9>"$cache/lock" || exit $?
[ -z "$only_check" ] || exit 0
version=$(ls "$cache/kernel/lib/modules")

work=$(mktemp -d)
daemons=()
finish() {
  kill "${daemons[@]}" $(jobs -p) 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT HUP

# The first files: enough to reach this machine's.
initial_files() {
  local files=$work/files module
  mkdir -p "$files"/{bin,proc,dev,real,new,host,modules}
  cp /bin/busybox "$files/bin/"
  for module in virtio_pci virtiofs overlay virtio_console; do
    modprobe -d "$cache/kernel" -S "$version" --show-depends "$module" | awk '/^insmod/ { print $2 }'
  done | awk '!seen[$0]++' >"$work/modules"
  while read -r module; do
    cp "$module" "$files/modules/"
    basename "$module" >>"$files/order"
  done <"$work/modules"
  cat >"$files/init" <<'INIT'
#!/bin/busybox sh
# Mounts the other machine's files and runs /command there.
b=/bin/busybox
$b mount -t proc none /proc; $b mount -t devtmpfs none /dev
while read -r module; do $b insmod /modules/"$module"; done </order
$b mount -t virtiofs host /real
. /writable
$b mount -t tmpfs none /new
$b mkdir /new/upper /new/work
$b mount -t overlay -o lowerdir=/real,upperdir=/new/upper,workdir=/new/work none /host
$b mount -t proc none /host/proc; $b mount -t sysfs none /host/sys; $b mount -o move /dev /host/dev
$b mount -t tmpfs none /host/run
[ -z "$writable" ] || $b mount -t virtiofs kept "/host$writable"
$b umount -l /real # no other way there
$b mount -t cgroup2 none /host/sys/fs/cgroup 2>/dev/null
$b mkdir -p /host/run/netns /host/run/guest
$b cp /command /host/run/guest/
echo /modprobe >/host/proc/sys/kernel/modprobe # which the kernel looks for among the first files
output=$(echo /host/dev/vport*p1)
$b chroot /host /bin/bash /run/guest/command </host/dev/null >"$output" 2>&1
echo "guest-status $?" >/host/dev/ttyS0
$b poweroff -f
INIT
  echo "writable='$writable'" >"$files/writable"
  printf '#!/bin/busybox sh\nexec /bin/busybox chroot /host /sbin/modprobe -d %q "$@"\n' "$cache/kernel" >"$files/modprobe"
  {
    echo "unset $(compgen -v | grep -E '^(TMPDIR|XDG_)' | tr '\n' ' ')"
    export -p
    printf 'cd %q\n' "$PWD"
    echo 'export PATH=$PATH:/usr/sbin:/sbin IN_GUEST=1'
    echo 'ip link set lo up'
    # Cards are there from the start; what finds their driver elsewhere is not running.
    [ ${#cards[@]} = 0 ] || printf 'modprobe -d %q virtio_net\n' "$cache/kernel"
    printf '%q ' "$@"
    echo
  } >"$files/command"
  chmod +x "$files/init" "$files/modprobe"
  (cd "$files" && find . | cpio -o -H newc --quiet) >"$work/initrd"
}
initial_files "$@"

arguments=()
# share TAG DIRECTORY CACHE: the guest can mount the directory.
share() {
  local socket=$work/$1.socket
  "$virtiofsd" --socket-path="$socket" -o "source=$2" -o sandbox=chroot -o "cache=$3" >"$work/virtiofsd" 2>&1 &
  daemons+=($!)
  for _ in $(seq 50); do [ -S "$socket" ] && break; sleep 0.05; done
  [ -S "$socket" ] || cannot "virtiofsd does not start: $(cat "$work/virtiofsd")"
  arguments+=(-chardev "socket,id=$1,path=$socket" -device "vhost-user-fs-pci,chardev=$1,tag=$1")
}
share host / always # programs start many times
[ -z "$writable" ] || share kept "$writable" none

for i in "${!cards[@]}"; do
  card=${cards[$i]}
  sum=$(cksum <<<"$card" | cut -d' ' -f1)
  address=$(printf '02:00:00:%02x:%02x:%02x' $((sum >> 8 & 255)) $((sum & 255)) "$i")
  device="virtio-net-pci,netdev=n$i,mac=$address,romfile="
  case $card in
    tap:*)
      IFS=: read -r _ tap queues <<<"$card"
      queues=${queues:-1}
      [ "$queues" = 1 ] || device+=",mq=on,vectors=$((2 * queues + 2))"
      net="tap,id=n$i,ifname=$tap,script=no,downscript=no,queues=$queues"
      ;;
    */*)
      cable=$(realpath -m "${card%/*}") end=${card##*/}
      case $end in a) other=b ;; b) other=a ;; *) echo "guest.sh: a cable's ends are a and b: $card" >&2; exit 2 ;; esac
      net="dgram,id=n$i,local.type=unix,local.path=$cable.$end,remote.type=unix,remote.path=$cable.$other"
      ;;
    *) echo "guest.sh: no network card: $card" >&2; exit 2 ;;
  esac
  arguments+=(-netdev "$net" -device "$device")
done

[ -n "$log" ] || log=$work/log
mkfifo "$work/output"
cat "$work/output" &
output=$!
# The clock is one that runs with this machine's, however busy that is.
timeout --foreground "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp "$processors" -nodefaults -display none -no-reboot \
  -m "$memory" -object "memory-backend-memfd,id=memory,size=${memory}M,share=on" -numa node,memdev=memory \
  -device virtio-serial-pci -chardev "file,id=output,path=$work/output" -device virtserialport,chardev=output \
  -serial "file:$log" -kernel "$cache/kernel/boot/vmlinuz-$version" -initrd "$work/initrd" \
  -append "console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off no_timer_check tsc=unstable clocksource=acpi_pm" "${arguments[@]}" </dev/null &
qemu=$!
ended=0
wait "$qemu" || ended=$?
[ "$ended" != 0 ] || wait "$output"
status=$(tr -d '\r' <"$log" | sed -n 's/.*guest-status \([0-9]*\)$/\1/p' | tail -n 1)
[ -z "$status" ] || exit "$status"
[ "$ended" != 124 ] || echo "guest.sh: not ended after $limit s" >&2
tail -n 40 "$log" >&2
exit 125
