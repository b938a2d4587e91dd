# A host gets another Ethernet address. Only what is on its way to the old one is lost.
family ip-router
seed 1
workers 2
vector 32
flow a 10.0.1.10 udp count 40 size 64 gap 100us ttl 64 ports 2001 7
flow a 2001:db8:1::a udp count 40 size 64 gap 100us ttl 64 ports 2002 7
wait 1ms
move b
wait 1ms
move a
