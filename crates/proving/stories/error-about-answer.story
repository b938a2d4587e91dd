# An error about an answer to a ping goes to who answered.
family ip-router
seed 2415
workers 1
vector 1
flow b 2001:db8::a ping count 1 size 1390 gap 1ms ttl 64 ports 23803 3
wait 200us
swap r0 mtu 1
