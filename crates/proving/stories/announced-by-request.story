# A gateway believes a host that announces its new Ethernet address by a request (RFC 5227, section 2.3).
family nat
seed 2518
workers 1
vector 1
flow a2 198.51.100.5 tcp count 1 size 16 gap 1ms ttl 64 ports 2005 5000
wait 1ms
move a2
wait 2s
flow a2 203.0.113.9 tcp count 1 size 64 gap 1ms ttl 64 ports 2007 443
