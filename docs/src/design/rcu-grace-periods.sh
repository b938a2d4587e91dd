#!/bin/sh
# Checks rcu-grace-periods.pml with spin: the algorithm must pass, each broken variant must be refuted.
# Needs spin and a C compiler; without them says so and succeeds. Takes half a minute and 300 MB.
cd "$(dirname "$0")" || exit 2
for tool in spin cc; do
    if ! command -v $tool >/dev/null; then
        echo "the grace-period model is skipped: there is no $tool here (Debian: apt-get install spin gcc)"
        exit 0
    fi
done
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

failures=0
# expectation (holds or refuted), then the definitions
check() {
    expected=$1
    shift
    rm -rf "$work"/* && cp rcu-grace-periods.pml "$work/model.pml" || exit 2
    how=-DSAFETY run=
    case "$*" in *LIVENESS*) how=-DNFAIR=8 run="-a -f" ;; esac
    # $how and $run are lists of words.
    if ! (cd "$work" && spin -a "$@" model.pml >log && cc -O2 -w $how -DCOLLAPSE -o pan pan.c) ||
        ! (cd "$work" && timeout 900 ./pan -m1000000 $run >log 2>&1); then
        cat "$work/log"
        echo "did not run: $*"
        exit 2
    fi
    case $(grep -c 'errors: 0' "$work/log")$(grep -c 'max search depth too small' "$work/log") in
    10) found=holds ;;
    00) found=refuted ;;
    *) found="not decided" ;;
    esac
    printf '%-12s%s\n' "$found" "${*:-(two updaters that wait)}"
    [ "$found" = "$expected" ] || failures=$((failures + 1))
}

check holds
check holds -DCALLBACKS
check holds -DLIVENESS
check holds -DCALLBACKS -DTHREE -DREADERS=1
check refuted -DNO_ONLINE_FENCE
check refuted -DNO_START_FENCE
check refuted -DONE_STEP_EARLY
check refuted -DLATE_REGISTRATION
check refuted -DCALLBACKS -DONE_GENERATION_EARLY
check refuted -DCALLBACKS -DTHREE -DREADERS=1 -DONE_STEP_EARLY
check refuted -DLIVENESS -DNEVER_REPORTS
if [ $failures -gt 0 ]; then
    echo "$failures of these are not as they should be"
    exit 1
fi
