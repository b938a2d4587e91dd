# Packets for two neighbours take turns in one batch, and each goes to its own.
family ip-router
seed 1
workers 1
vector 32
flow a 10.0.1.10 ping count 2 size 64 gap 1ms ttl 64 ports 1 1
flow a 10.0.1.11 ping count 2 size 64 gap 1ms ttl 64 ports 2 1
flow a 2001:db8:1::a ping count 2 size 64 gap 1ms ttl 64 ports 3 1
flow a 2001:db8:1::b ping count 2 size 64 gap 1ms ttl 64 ports 4 1
wait 20ms
flow a 10.0.1.10 udp count 40 size 64 gap 0ns ttl 64 ports 10000 80 spread
flow a 10.0.1.11 udp count 40 size 64 gap 0ns ttl 64 ports 20000 80 spread
flow a 2001:db8:1::a udp count 40 size 64 gap 0ns ttl 64 ports 10000 80 spread
flow a 2001:db8:1::b udp count 40 size 64 gap 0ns ttl 64 ports 20000 80 spread
wait 20ms
