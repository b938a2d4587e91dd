# The gateway itself is asked in fragments, and answers in some.
family nat64
seed 1
workers 2
vector 32
flow a 2001:db8:1::1 ping count 3 size 3000 gap 50us ttl 64 ports 2001 7
wait 1ms
swap nat64 mtu6 1
flow a2 2001:db8:1::1 ping count 3 size 1440 gap 50us ttl 64 ports 2001 7
