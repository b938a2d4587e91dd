# Wrapped packets are cut outside of what they wrap, once at the entrance and once on their way, and put together at the other end, also when it is
# replaced between two fragments.
family tunnel
seed 1
workers 4
vector 32
knob outside 1
knob middle 1
knob pace 1
flow a 10.0.2.10 udp count 30 size 1450 gap 20us ttl 64 ports 2001 80 ecn 2
flow b 10.0.1.10 tcp count 30 size 3000 gap 20us ttl 64 ports 2002 80
wait 300us
swap east tap 1
wait 130us
swap east exit 1
wait 135us
swap west tap 2
wait 145us
swap east tap 0
wait 225us
swap west wrap 4
wait 235us
swap west exit 2
wait 20ms
swap west wrap 1
swap east wrap 1
swap transit middle 0
flow a 10.0.2.10 udp count 30 size 1450 gap 20us ttl 64 ports 2004 80
flow b2 2001:db8:1::b ping count 20 size 1440 gap 50us ttl 64 ports 2005 80
wait 300us
swap west tap 1
wait 125us
swap east tap 1
wait 50us
swap west tap 0
wait 50us
swap east tap 0
wait 50us
swap west tap 1
swap east exit 0
wait 100us
swap west tap 2
swap east tap 1
wait 50us
swap west tap 0
swap east tap 2
