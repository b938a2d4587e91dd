# Connections of all kinds go on while the firewall is replaced: with other workers for its packets, with queues, with a smaller table, and without
# ConnTrackConfirm. Strangers stay outside, errors about what was sent come in. A refused configuration changes nothing.
family firewall
seed 1
workers 4
vector 32
flow a 10.0.2.10 udp count 30 size 64 gap 500us ttl 64 ports 2000 7 ecn 2
flow a2 2001:db8:2::b tcp count 30 size 500 gap 500us ttl 64 ports 3100 80
flow b 10.0.1.10 tcp count 30 size 500 gap 500us ttl 64 ports 3200 80
flow b2 2001:db8:1::b ping count 30 size 64 gap 500us ttl 64 ports 2001 7
flow b 10.0.1.10 udp count 30 size 64 gap 500us ttl 64 ports 7 2101
flow b2 10.0.1.10 tcp count 10 size 64 gap 500us ttl 64 ports 3300 25
flow a 10.0.2.11 udp count 30 size 64 gap 500us ttl 1 ports 2002 53
flow a 10.0.2.11 ping count 10 size 3000 gap 500us ttl 64 ports 2002 7
wait 2ms
swap wall tap 2
wait 2ms
wrong wall state
swap wall exit 1
wait 2ms
swap wall capacity 1
wait 2ms
swap wall keep 1
swap wall tap 1
wait 2ms
swap wall exit 2
swap wall tap 0
wait 2ms
capture wall pcap
swap wall keep 0
flow b 10.0.1.10 udp count 20 size 64 gap 500us ttl 64 ports 7 2000
flow b 10.0.1.10 udp count 20 size 64 gap 500us ttl 64 ports 7 2102
wait 5ms
restart wall workers 2
flow b 10.0.1.10 udp count 20 size 64 gap 500us ttl 64 ports 7 2102
flow a 2001:db8:2::63 udp count 20 size 64 gap 500us ttl 1 ports 2001 7
