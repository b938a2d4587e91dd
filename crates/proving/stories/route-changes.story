# A route moves from one host to the other while a flow goes on; what is under way may take either.
family ip-router
seed 1
workers 2
vector 32
write r0 routes.add 10.9.0.0/16 10.0.1.10 2
wait 1ms
flow a 10.9.0.5 udp count 20 size 64 gap 50us ttl 64 ports 1024 7
wait 500us
write r0 routes.add 10.9.0.0/24 10.0.1.11 2
wait 200us
swap r0 tap 2
wait 200us
write r0 routes.remove 10.9.0.0/24
