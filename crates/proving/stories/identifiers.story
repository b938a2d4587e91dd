# A router that answers in fragments does not use their identifiers again after a swap.
family ip-router
seed 1
workers 1
vector 1
flow a 2001:db8::1 ping count 3 size 3000 gap 1ms ttl 64 ports 1 1
wait 10ms
swap r0 tap 1
flow a 2001:db8::1 ping count 3 size 3000 gap 1ms ttl 64 ports 1 1
