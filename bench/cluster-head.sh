# How measurements of nodes in namespaces begin. Sourced with the program's arguments, [--json] [NUMBER]; the caller has said what `number`
# is without the second one, in `what` what it counts, and with an empty `mesh` that there shall be no mesh of four yet. From here on what is printed goes to standard error, and `exec 1>&3` ends that.
exec 3>&1 >&2
json=
[ "${1:-}" != --json ] || { json=1; shift; }
number=${1:-$number}
set -- # what is sourced would take it for a program that it needs
bench=$(dirname "${BASH_SOURCE[0]}")
source "$bench/../tests/netns/lib.sh"
source "$bench/../tests/netns/cluster-lib.sh"
workers=${WORKERS:-1} # of each node
trap finish_cluster EXIT
[[ $number =~ ^[1-9][0-9]*$ ]] || fail "'$number' is no number of $what"
load=$(cut -d' ' -f1-3 /proc/loadavg)
[ -z "${mesh-yes}" ] || build_cluster

# What was measured where, as members of a JSON object.
machine() {
  printf '"machine": "%s, %s processors", "kernel": "%s", "commit": "%s", "build": "%s", "load": "%s"' \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(uname -r)" \
    "$(git -C "$root" rev-parse --short HEAD)" "${BUILD:-$clique}" "$load"
}
