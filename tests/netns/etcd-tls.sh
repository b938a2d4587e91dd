#!/usr/bin/env bash
# A node with its roster from an etcd that asks for certificates; certificates are renewed while it runs. And what is said where certificates
# do not fit: none, one of another authority, an unknown authority, an expired one, another host's, a key of another, no TLS. About 10 s.
source "$(dirname "$0")/lib.sh" etcd etcdctl openssl
if "$clique" check -e 'v :: VLBNode(0, 1, KEY k); Idle -> v -> Discard; EtcdRoster(v, CAFILE /dev/null)' 2>&1 | grep -q 'built without TLS'; then
  skip "$clique was built without TLS"
fi
cd "$work"
ip -n "$r" link set lo up

key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
authority() { openssl req -x509 "${key[@]}" -keyout "$1.key" -out "$1.pem" -days 2 -subj "/CN=$1" 2>/dev/null; }
# certificate NAME AUTHORITY DAYS
certificate() {
  openssl req "${key[@]}" -keyout "$1.key" -subj "/CN=$1" -addext subjectAltName=IP:127.0.0.1 -addext extendedKeyUsage=serverAuth,clientAuth 2>/dev/null |
    openssl x509 -req -CA "$2.pem" -CAkey "$2.key" -days "$3" -copy_extensions copy -out "$1.pem" 2>/dev/null
}
authority ca
authority other
certificate server ca 2
certificate node ca 2
certificate stranger other 2
certificate expired ca 0
chmod 644 stranger.key

etcd=
start_etcd() {
  ip netns exec "$r" etcd --data-dir data --cert-file server.pem --key-file server.key --client-cert-auth --trusted-ca-file ca.pem \
    --listen-client-urls https://127.0.0.1:2379,https://127.0.0.2:2379 --advertise-client-urls https://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 >>etcd.log 2>&1 &
  etcd=$!
  wait_for "etcd is there" eval 'etcdctl endpoint health >/dev/null 2>&1'
}
etcdctl() { ETCDCTL_API=3 in_r etcdctl --endpoints https://127.0.0.1:2379 --cacert ca.pem --cert node.pem --key node.key "$@"; }
put_roster() { etcdctl put /clique/roster -- "version $1"$'\n'"node 0 alpha ports 1" >/dev/null; }
roster_is() { [ "$(ctl read vlb.roster | head -n 1)" = "version $1" ]; }
start_etcd
put_roster 2
ip netns exec "$r" openssl s_server -accept 127.0.0.1:2479 -cert expired.pem -key expired.key -quiet >/dev/null 2>&1 &

cat >node.click <<'END_OF_NODE'
vlb :: VLBNode(0, 1, KEY k); Idle -> vlb -> Discard;
good :: EtcdRoster(vlb, CAFILE ca.pem, CERTFILE node.pem, KEYFILE node.key, CACHE roster, TTL 3);
bare :: EtcdRoster(vlb, CAFILE ca.pem);
stranger :: EtcdRoster(vlb, CAFILE ca.pem, CERTFILE stranger.pem, KEYFILE stranger.key);
unknown :: EtcdRoster(vlb, CAFILE other.pem, CERTFILE node.pem, KEYFILE node.key);
expired :: EtcdRoster(vlb, SERVER 127.0.0.1:2479, CAFILE ca.pem);
renamed :: EtcdRoster(vlb, SERVER 127.0.0.2:2379, CAFILE ca.pem, CERTFILE node.pem, KEYFILE node.key);
mixed :: EtcdRoster(vlb, CAFILE ca.pem, CERTFILE node.pem, KEYFILE stranger.key);
plain :: EtcdRoster(vlb);
clear :: EtcdRoster(vlb, SERVER 127.0.0.1:2380, CAFILE ca.pem);
absent :: EtcdRoster(vlb, CAFILE absent.pem);
END_OF_NODE
launch -u "$work/socket" node.click
wait_for "the roster comes from an etcd that asks for certificates" roster_is 2
wait_for "the node is with etcd" is good.connected true
wait_for "etcd knows of the node" eval 'etcdctl get --prefix /clique/members/ | grep -q "^version 2"'
put_roster 3
wait_for "a change comes over the same connection" roster_is 3
is good.stats "$(printf 'connected 1\nsessions 1\ntaken 2\nrefused 0')" || fail "not in one session: $(ctl read good.stats)"

error_says() { ctl read "$1.error" | grep -Eq "$2"; }
while IFS='|' read -r element what; do
  wait_for "$element: $what" error_says "$element" "$what"
done <<'END_OF_ERRORS'
bare|127.0.0.1:2379: the server does not accept this node's certificate
stranger|127.0.0.1:2379: the server does not accept this node's certificate
unknown|127.0.0.1:2379: the server's certificate is not signed by an authority in CAFILE
expired|127.0.0.1:2479: the server's certificate has expired
renamed|127.0.0.2:2379: the server's certificate has another name
mixed|stranger.key: not the key of node.pem
plain|127.0.0.1:2379: no answer; does it want TLS
clear|127.0.0.1:2380: the server does not speak TLS
absent|absent.pem: No such file
END_OF_ERRORS
says "a key that others can read is warned of" 'KEYFILE: stranger.key: others than its owner have access' cat "$work/log"
says "and one that they cannot is not" '^0$' bash -c "grep -c 'KEYFILE: node.key' '$work/log' || true"

# Both sides get other certificates; the node takes its own from the files when it asks anew.
kill "$etcd"
wait "$etcd" 2>/dev/null || true
wait_for "etcd is gone" is good.connected false
authority ca
certificate server ca 2
certificate node ca 2
start_etcd
wait_for "the node is with etcd again, by other certificates" is good.connected true
put_roster 4
wait_for "and has a roster of after that" roster_is 4
holds "$router" "$work/socket" # a connection that is watched is more than there was at first
