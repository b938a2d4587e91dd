# Judges alarms of nodes by what they noted (handlers pause_log and alarm_log of VLBNode and VLBFly). Of each line of the handlers there is
# one here, as often as it was read, with what it is and whose before it:
#
#   pause NODE NUMBER FROM UNTIL RAN HELLO      alarm NODE NUMBER AT ACCUSED HELLO
#
# An alarm is right if the accused node sent no hello for at least HOLD - HELLO behind the last one that was heard of it, and had no processor in
# that time: it did not run, and forwarded nothing. Everything else is a false alarm, also where the accused ran but its loop was busy, and where
# it was the accuser that did not run. -v hold=MS -v hello=MS; -v list=1 prints each alarm; otherwise members of a JSON object. With -v since=US
# alarms before that time do not matter.
$1 == "pause" {
  if (seen["p", $2, $3]++) next
  n = ++pauses[$2]; from[$2, n] = $4; ends[$2, n] = $5; idle[$2, n] = $5 - $4 - $6; after[$2, n] = $7
  if ($3 > last["p", $2]) last["p", $2] = $3
  count["p", $2]++
}
$1 == "alarm" {
  if (seen["a", $2, $3]++) next
  if ($3 > last["a", $2]) last["a", $2] = $3
  count["a", $2]++
  if ($4 + 0 < since + 0) next
  n = ++alarms; by[n] = $2; at[n] = $4; accused[n] = $5; heard[n] = $6
}
# The longest time without a processor of a node behind a hello of it and before a time.
function longest(node, hello, until,    i, most) {
  most = 0
  for (i = 1; i <= pauses[node]; i++)
    if (after[node, i] >= hello && from[node, i] <= until && idle[node, i] > most) most = idle[node, i]
  return most
}
END {
  needed = (hold - hello) * 1000
  for (n = 1; n <= alarms; n++) {
    idled = longest(accused[n], heard[n], at[n])
    is_right = idled >= needed
    right += is_right; wrong += !is_right
    if (list) printf "%s: at %.0f us node %s gave up node %s, which did not run for %d us\n", is_right ? "right" : "FALSE", at[n], by[n],
      accused[n], idled
  }
  # What was forgotten before it was read.
  for (key in last) lost += last[key] - count[key]
  if (!list) printf "\"alarms\": %d, \"right_alarms\": %d, \"false_alarms\": %d, \"forgotten_notes\": %d", alarms, right, wrong, lost
}
