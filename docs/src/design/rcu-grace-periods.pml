/* The grace-period algorithm of crates/rcu, for spin. rcu-grace-periods.md explains it; rcu-grace-periods.sh runs it.
 *
 * Readers register, come online, read, pass quiescent states, go offline and come back, for ever. Two updaters, or three
 * with THREE defined, replace the value that readers follow. They wait for grace periods that they start or join; or, with CALLBACKS
 * defined, they queue callbacks for a reclaimer. Freeing a value marks it, and a reader that uses a marked value
 * fails an assertion.
 *
 * Defining one of these breaks the algorithm, and spin must notice:
 *   NO_ONLINE_FENCE       a reader's first reads may overtake its announcement that it is online
 *   NO_START_FENCE        a grace period may start before the update that it is for is visible
 *   ONE_STEP_EARLY        a grace period counts as over when the one before it is
 *   ONE_GENERATION_EARLY  (with CALLBACKS) the reclaimer frees what was queued while its batch waited
 *   LATE_REGISTRATION     a reader reads before its slot is in the list
 *   NEVER_REPORTS         a reader's quiescent states do not reach its slot (nothing wrong is freed: nothing is)
 */

#ifndef READERS
#ifdef CALLBACKS
#define READERS 2
#else
#define READERS 1 /* two updaters and two readers at once are too many for a small machine */
#endif
#endif
#ifdef THREE
#define VALUES 4
#else
#define VALUES 3
#endif
#define NONE VALUES
#define OFFLINE 0

byte epoch = 1;              /* the newest grace period that began */
byte over = 1;               /* the newest one known to be over */
bool registered[READERS];    /* whether the reader's slot is in the list */
byte seen[READERS];          /* what the slot says, as scans see it */
byte buffered[READERS];      /* what the reader has written to it, */
bool pending[READERS];       /* if that is not visible yet */
byte place = 0;              /* the value that readers find */
bool freed[VALUES];
bool queued[VALUES];         /* callbacks that wait for the reclaimer */
byte finished = 0;           /* updates that are done, up to freeing what they replaced */

/* Makes buffered stores visible, whenever it likes. */
active proctype Memory() {
endmemory:
    do
    :: pending[0] -> atomic { seen[0] = buffered[0]; pending[0] = false }
#if READERS > 1
    :: pending[1] -> atomic { seen[1] = buffered[1]; pending[1] = false }
#endif
    od
}

/* Reader `me` writes its slot; one store fits into the buffer. */
inline announce(state) {
    atomic { !pending[me] -> buffered[me] = state; pending[me] = true }
    mine = state
}

proctype Reader(byte me) {
    byte mine = OFFLINE, held = NONE, now;

#ifndef LATE_REGISTRATION
    registered[me] = true; /* its slot is prepended to the list */
#endif

endreader: /* it may stop here for good: an offline reader holds no updater up */
    do
    :: mine == OFFLINE ->
        now = epoch;
        announce(now);
#ifndef NO_ONLINE_FENCE
        !pending[me] /* the fence */
#endif
    :: mine == OFFLINE -> break
    :: mine != OFFLINE ->
        held = place;
#ifdef LATE_REGISTRATION
        registered[me] = true;
#else
        skip; /* other things happen */
#endif
        assert(!freed[held]);
        held = NONE; /* the turn ends: quiescent, or offline */
        if
        :: now = epoch;
            if
#ifndef NEVER_REPORTS
            :: now != mine -> announce(now)
#endif
            :: else
            fi
        :: announce(OFFLINE)
        fi
    od
}

/* Starts grace period `token`. One step: a read-modify-write behind a fence. */
inline start() {
    atomic { epoch++; token = epoch }
}

/* Looks at the slots one after the other. `registered` is looked at first, as a scan loads the list's head. */
inline scan() {
    begun = epoch;
    atomic {
        do
        :: slot < READERS -> there[slot] = registered[slot]; slot++
        :: else -> break
        od;
        slot = 0
    }
    oldest = begun;
    do
    :: slot < READERS && there[slot] ->
        atomic {
            if
            :: seen[slot] != OFFLINE && seen[slot] < oldest -> oldest = seen[slot]
            :: else
            fi;
            slot++
        }
    :: slot < READERS && !there[slot] -> slot++
    :: slot == READERS -> break
    od;
    atomic {
        if
        :: oldest > over -> over = oldest
        :: else
        fi;
        oldest = 0; slot = 0; begun = 0
    }
}

inline wait() {
    do
#ifdef ONE_STEP_EARLY
    :: over >= token - 1 -> break
#else
    :: over >= token -> break
#endif
    :: else -> scan()
    od
}

/* Replaces the value. */
inline unlink() {
    atomic { old = place; place = new }
}

/* Waits for a grace period of its own, or for the next one that anybody starts. */
proctype Synchronizer(byte new) {
    byte old, token, begun, oldest, slot;
    bool there[READERS];
#ifdef NO_START_FENCE
    start();
    unlink();
#else
    unlink();
    if
    :: start()
    :: token = epoch + 1; /* joins: a write of the epoch that does not change it */
        if
        :: epoch >= token /* another updater has started it */
        :: atomic { epoch < token -> epoch = token } /* patience ended */
        fi
    fi;
#endif
    wait();
    atomic { freed[old] = true; finished++ }
}

proctype Caller(byte new) {
    byte old;
    unlink();
    queued[old] = true
}

#ifdef CALLBACKS
/* Takes everything that is queued, waits for one grace period for all of it, frees it. */
active proctype Reclaimer() {
    byte token, begun, oldest, slot, value;
    bool there[READERS], batch[VALUES];
endreclaimer:
    do
#ifdef THREE
    :: (queued[0] || queued[1] || queued[2] || queued[3]) ->
#else
    :: (queued[0] || queued[1] || queued[2]) ->
#endif
        atomic {
            value = 0;
            do
            :: value < VALUES -> batch[value] = queued[value]; queued[value] = false; value++
            :: else -> break
            od
        }
        start();
        wait();
        atomic {
            value = 0;
            do
            :: value < VALUES ->
                if
                :: batch[value] -> freed[value] = true; batch[value] = false; finished++
#ifdef ONE_GENERATION_EARLY
                :: !batch[value] && queued[value] -> freed[value] = true; queued[value] = false; finished++
#endif
                :: else
                fi;
                value++
            :: else -> break
            od;
            value = 0
        }
    od
}
#endif

init {
    atomic {
        run Reader(0);
#if READERS > 1
        run Reader(1);
#endif
#ifdef CALLBACKS
        run Caller(1);
        run Caller(2)
#else
        run Synchronizer(1);
        run Synchronizer(2)
#endif
#ifdef THREE
#ifdef CALLBACKS
        ;
        run Caller(3)
#else
        ;
        run Synchronizer(3)
#endif
#endif
    }
}

#ifdef LIVENESS
/* As long as no process is put off for ever, both updates finish: every grace period ends. */
ltl finishes { <> (finished == VALUES - 1) }
#endif
