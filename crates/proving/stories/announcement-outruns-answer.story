# A host answers who has its address, and 50 us later announces another Ethernet address. The announcement comes into another receive queue, which is read first: the
# router goes on with the old one.
family ipsec
seed 602373
workers 1
vector 1
flow b2 2001:db8:1::b ping count 1 size 64 gap 1ms ttl 64 ports 64566 7
wait 60us
flow a2 10.0.2.99 udp count 1 size 64 gap 1ms ttl 64 ports 53869 7
wait 600us
move a2
wait 1ms
flow b2 2001:db8:1::b udp count 1 size 64 gap 1ms ttl 64 ports 33078 190
