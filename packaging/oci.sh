#!/usr/bin/env bash
# oci.sh [-p PROGRAM] [-o FILE]: makes an OCI image, as an archive that `podman load` and `docker load` read. It contains the program, the
# system libraries that it is linked with, and the example configurations; nothing is fetched. Without -p it builds the program first.
# FILE is target/clique-oci.tar unless said otherwise. The same program gives the same bytes.
#
#   podman run --rm --network host --cap-add NET_ADMIN,NET_RAW,BPF,IPC_LOCK -v /etc/clique:/etc/clique:ro clique run /etc/clique/edge.click
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program= out=$root/target/clique-oci.tar
while getopts "p:o:" option; do
  case $option in
    p) program=$(realpath "$OPTARG") ;;
    o) out=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
  esac
done
cd "$root"
if [ -z "$program" ]; then
  CARGO_TARGET_DIR=target cargo build --locked --profile dist --features full -p clique
  program=target/dist/clique
fi
packaging/stage.sh "$program"
case $(uname -m) in x86_64) architecture=amd64 ;; aarch64) architecture=arm64 ;; *) architecture=$(uname -m) ;; esac
# The time of the last commit, so that the image does not tell when it was made.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The files.
files=$work/files
mkdir -p "$files"/{usr/bin,usr/share/doc/clique/examples,etc/clique,run/clique,tmp}
cp -P target/package/bin/* "$files/usr/bin/"
strip "$files/usr/bin/clique"
cp target/package/examples/* "$files/usr/share/doc/clique/examples/"
cp LICENSE-MIT LICENSE-APACHE "$files/usr/share/doc/clique/"
for library in $(ldd "$files/usr/bin/clique" | grep -oE '/[^ ]+'); do
  mkdir -p "$files$(dirname "$library")"
  cp -L "$library" "$files$library"
done
archive() { tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=posix --pax-option=delete=atime,delete=ctime -c "$@"; }

# The image: blobs under their sums, which the manifest names (OCI image format 1.0).
image=$work/image
blobs=$image/blobs/sha256
mkdir -p "$blobs"
# blob FILE: puts it in its place, and prints how others refer to it.
blob() {
  local sum size
  sum=$(sha256sum "$1" | cut -d' ' -f1) size=$(stat -c %s "$1")
  mv "$1" "$blobs/$sum"
  printf '"digest":"sha256:%s","size":%s' "$sum" "$size"
}
archive -C "$files" . >"$work/layer"
unpacked=$(sha256sum "$work/layer" | cut -d' ' -f1)
gzip -n9 "$work/layer"
layer=$(blob "$work/layer.gz")
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
cat >"$work/config" <<JSON
{"created":"$created","architecture":"$architecture","os":"linux","config":{"Entrypoint":["/usr/bin/clique"],"Cmd":["--help"]},"rootfs":{"type":"layers","diff_ids":["sha256:$unpacked"]}}
JSON
config=$(blob "$work/config")
cat >"$work/manifest" <<JSON
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json",$config},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip",$layer}]}
JSON
manifest=$(blob "$work/manifest")
cat >"$image/index.json" <<JSON
{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json",$manifest,"annotations":{"org.opencontainers.image.ref.name":"clique:latest"}}]}
JSON
echo '{"imageLayoutVersion":"1.0.0"}' >"$image/oci-layout"
archive -C "$image" . >"$out"
echo "$out"
