# An interface is gone, and the clock leaps: what is asked for after that waits in vain, for the question is lost, too.
family paths
seed 62015
workers 1
vector 1
device r 1 gone
write r routes.set 10.9.0.0/16 nexthop 10.0.2.12 2 1
leap 60s
flow a2 10.9.0.5 udp count 2 size 16 gap 1ms ttl 64 ports 15027 443
