/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The end of an object that another CPU has created: profiler/trace/objects.c.
 * Each CPU has its part of the table, which it alone fills, from its own ring.
 * What ends an object is any CPU's record, and that CPU enters it: only one bit
 * of the owner's slot is its to clear. Who frees the slot for another object is
 * the owner, which takes a slot only if that bit is clear. Where the owner has
 * not come to the creation yet, the end is a stray, which is tried again until
 * the owner has followed its ring to where it was then: then the table had no
 * room for the object.
 *
 * The owner creates objects, which all have the same slot, and follows its ring
 * at any time, as far as it likes. The other CPU ends each of them, in any
 * order, once it was created. Each memory access is a step; stores are seen in
 * their order. Labels are in labels.pml.
 *
 * What must hold, whatever the order of steps:
 *   - no object is ended in the place of another
 *   - when both CPUs have followed their rings, no object that was ended is
 *     alive in the table, and no stray is left
 *
 * With BROKEN_TAIL the object of a stray is looked for before the position of
 * the owner is read; with BROKEN_UNTIL a stray is dropped as soon as the owner
 * has followed anything; with BROKEN_ONCE it is never tried again; with
 * BROKEN_ORDER the owner writes an object's number before it clears the state
 * of the previous one; with BROKEN_REUSE it takes a slot whose object has not
 * ended: each must be found out.
 */

#define OBJECTS 3
#define USED 1
#define LIVE 2

byte head = 0, tail = 0;        /* of the owner's ring: an object each */
byte state = 0, object = 0;     /* the slot */
bool ended[OBJECTS + 1];
byte until[OBJECTS + 1];        /* of strays; 0 = it is none */
bool owner_done = false;

inline begin_object(o)
{
    if
#ifdef BROKEN_REUSE
    :: true ->
#else
    :: (state & LIVE) == 0 ->
#endif
#ifdef BROKEN_ORDER
        object = o;
        state = 0;
#else
        state = 0;
        object = o;
#endif
        state = USED | LIVE
    :: else -> skip             /* it is untracked */
    fi
}

proctype owner()
{
    byte at;

    do
    :: head < OBJECTS -> head++
    :: tail < head ->           /* as far as it likes */
        at = tail;
        do
        :: at < head -> at++; begin_object(at)
        :: at > tail -> break
        od;
        tail = at
    :: head == OBJECTS && tail == OBJECTS -> break
    od;
    owner_done = true
}

/* Whether (o) is in the table, which then has its end. */
inline update_owner(o)
{
    found = (object == o);
    if
    :: found -> found = ((state & USED) != 0)
    :: else -> skip
    fi;
    if
    :: found -> atomic { assert(object == o); state = state & ~LIVE }
    :: else -> skip
    fi
}

inline take_strays()
{
    i = 1;
    do
    :: i <= OBJECTS && until[i] != 0 ->
#ifdef BROKEN_TAIL
        update_owner(i);
        seen = tail;
#else
        seen = tail;
        update_owner(i);
#endif
        if
        :: found || seen >= until[i] -> until[i] = 0
        :: else -> skip
        fi;
        i++
    :: i <= OBJECTS && until[i] == 0 -> i++
    :: else -> break
    od
}

inline end_object(o)
{
    ended[o] = true;
    take_strays();
    update_owner(o);
    if
#ifdef BROKEN_ONCE
#elif defined(BROKEN_UNTIL)
    :: !found -> until[o] = (tail < head -> tail + 1 : head)
#else
    :: !found -> until[o] = head
#endif
    :: else -> skip
    fi
}

proctype other()
{
    byte o, i, seen, count = 0;
    bool found;

    do
    :: count < OBJECTS ->
        o = 0;
        do
        :: o == 0 ->
            if
            :: head >= 1 && !ended[1] -> o = 1
            :: head >= 2 && !ended[2] -> o = 2
            :: head >= 3 && !ended[3] -> o = 3
            fi
        :: else -> break
        od;
        end_object(o);
        count++
    :: count > 0 && count < OBJECTS -> take_strays()
    :: count == OBJECTS -> break
    od;
    owner_done;
    take_strays();
    i = 1;
    do
    :: i <= OBJECTS -> assert(until[i] == 0); i++
    :: else -> break
    od;
    assert((state & LIVE) == 0)
}

init
{
    atomic { run owner(); run other() }
}
