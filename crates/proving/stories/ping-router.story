# A router answers pings to its own addresses with right checksums, whatever is left of their lives.
family ip-router
seed 1
workers 1
vector 32
flow a 10.0.0.1 ping count 3 size 64 gap 1ms ttl 64 ports 2001 1
flow a2 10.0.1.1 ping count 3 size 500 gap 1ms ttl 7 ports 2002 1
flow a 2001:db8::1 ping count 3 size 64 gap 1ms ttl 64 ports 2003 1
