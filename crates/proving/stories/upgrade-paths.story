# Flows without a table of their own keep their next hops when another process takes over: the key of the hash goes on.
family paths
seed 430040
workers 1
vector 1
flow a 2001:db8:9::5 ping count 9 size 64 gap 50us ttl 64 ports 18449 443
write r routes6.set 2001:db8:9::/48 nexthop 2001:db8:2::a 2 1 nexthop 2001:db8:2::b 2 1 nexthop 2001:db8:2::c 2 1
wait 400us
upgrade r
