/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The label of an object that another CPU has created, and who reads the table
 * meanwhile: profiler/trace/objects.c. Ends are in ends.pml.
 *
 * The owner creates and ends objects, which all have the same slot, and follows
 * its ring at any time, as far as it likes. The other CPU gives each of them
 * two labels, at any time after its creation, and comes to enter them at any
 * time: its object may have ended, and the slot may be the next one's. So the
 * number and the label are changed as one, and only if the number is the
 * object's. A label whose object is not in the table is a stray, and so is what
 * follows it for the same object. The reader, the drain's CPU, copies the slot
 * once, at any time. Each memory access is a step; stores are seen in their
 * order.
 *
 * With TWO, two other CPUs and the owner itself give labels to one object at
 * once; the two give each object as many as they like. The owner, whose slot it
 * is, stores its label. Another CPU's is not stored if the label has changed
 * since it was read: it came before that one. Here the owner follows each
 * record at once, and there are no strays.
 *
 * The reader makes many states: it is there with READER only, where each object
 * gets one label.
 *
 * What must hold, whatever the order of steps:
 *   - nothing that is read has the label or the creator of another object
 *   - when both CPUs have followed their rings, the last object has the last
 *     label that was given to it, and no stray is left; with TWO, the last one
 *     that one of the CPUs has given to it
 *
 * With BROKEN_LATE the label is stored after a look at the number; with
 * BROKEN_OVERTAKE a label does not wait for an earlier one that is a stray;
 * with BROKEN_LATER it does, unless it is a stray, too; with BROKEN_STATE the
 * owner does not clear the state of the previous object first; with BROKEN_READ
 * the reader reads the state before the number; with BROKEN_RETRY a label that
 * was not stored is tried again with what was there instead, which is what the
 * instruction leaves in its registers: each must be found out.
 */

#define OBJECTS 2
#ifdef READER
#define LABELS 1                /* that each object gets */
#else
#define LABELS 2
#endif
#define USED 1
#define LIVE 2
#define LABEL(o, nth) (2 * (o) + (nth)) /* of object (o) */
#ifdef TWO
#define OTHERS 2
#else
#define OTHERS 1
#endif
#define FROM(cpu, l) (16 * (cpu) + (l)) /* label (l), by that one of OTHERS */
#define OWN_LABEL(o) FROM(OTHERS, LABEL(o, 0))
#define GIVEN(cpu, o) given[(cpu) * (OBJECTS + 1) + (o)]

byte head = 0, tail = 0; /* of the owner's ring: creation, end, creation... */
byte state = 0, creator = 0, object = 0, label = 0; /* the slot */
byte given[OTHERS * (OBJECTS + 1)]; /* labels */
bool owner_done = false;
byte others_done = 0;

/* An object's creator has its number here. */
inline begin_object(o)
{
    assert((state & LIVE) == 0);
#ifndef BROKEN_STATE
    state = 0;
#endif
    object = o;
    creator = o;
    label = 0;
    state = USED | LIVE
}

proctype owner()
{
    byte at;

    do
#ifdef TWO
    :: head < 2 * OBJECTS && tail == head -> head++
#else
    :: head < 2 * OBJECTS -> head++
#endif
    :: tail < head ->           /* as far as it likes */
        at = tail;
        do
        :: at < head ->
            at++;
            if
            :: at % 2 == 1 ->
                begin_object(at / 2 + 1);
#ifdef TWO
                label = OWN_LABEL(at / 2 + 1)
#endif
            :: else -> state = state & ~LIVE
            fi
        :: at > tail -> break
        od;
        tail = at
    :: head == 2 * OBJECTS && tail == head -> break
    od;
    owner_done = true
}

inline update_owner(o, l)
{
    found = (object == o);
    if
    :: found -> found = ((state & USED) != 0)
    :: else -> skip
    fi;
    if
#ifdef BROKEN_LATE
    :: found -> label = FROM(me, l)
#elif defined BROKEN_RETRY
    :: found ->
        was = label;
        is = o;
        do
        :: atomic {
            object == is && label == was -> label = FROM(me, l)
        }; break
        :: atomic {
            object != is || label != was ->
            is = object;
            was = label
        }
        od
#else
    :: found ->
        was = label;
        atomic {
            if
            :: object == o && label == was -> label = FROM(me, l)
            :: else -> skip
            fi
        }
#endif
    :: else -> skip
    fi
}

inline take_strays()
{
    i = 2;
    do
    :: i <= LABEL(OBJECTS, 1) ->
        if
        :: until[i] == 0 -> skip
#ifndef BROKEN_LATER
        :: until[i] != 0 && i % 2 == 1 && until[i - 1] != 0 -> skip
        :: until[i] != 0 && (i % 2 == 0 || until[i - 1] == 0) ->
#else
        :: until[i] != 0 ->
#endif
            seen = tail;
            update_owner(i / 2, i);
            if
            :: found || seen >= until[i] -> until[i] = 0
            :: else -> skip
            fi
        fi;
        i++
    :: else -> break
    od
}

inline give_label(o)
{
    d_step {
        i = LABEL(o, GIVEN(me, o));
        GIVEN(me, o)++;
        found = false
    };
    if
#ifndef BROKEN_OVERTAKE
    :: i % 2 == 1 && until[i - 1] != 0 -> skip
    :: i % 2 == 0 || until[i - 1] == 0 -> update_owner(o, i)
#else
    :: true -> update_owner(o, i)
#endif
    fi;
    if
#ifndef TWO
    :: !found -> until[i] = head
#endif
    :: else -> skip
    fi
}

/* Whether (cpu) has given the last object the label that it has. */
#define IS_OF(cpu) \
    (GIVEN(cpu, OBJECTS) > 0 && \
     label == FROM(cpu, LABEL(OBJECTS, GIVEN(cpu, OBJECTS) - 1)))

proctype other(byte me)
{
    byte until[2 * OBJECTS + 2]; /* of strays, by label; 0 = it is none */
    byte i, seen, was, is;
    bool found;

    do
#ifdef TWO
    :: tail >= 1 && GIVEN(me, 1) < LABELS -> give_label(1)
    :: tail >= 3 && GIVEN(me, 2) < LABELS -> give_label(2)
    :: true -> break
#else
    :: head >= 1 && GIVEN(me, 1) < LABELS -> give_label(1)
    :: head >= 3 && GIVEN(me, 2) < LABELS -> give_label(2)
    :: GIVEN(me, 1) + GIVEN(me, 2) > 0 -> take_strays()
    :: GIVEN(me, 1) + GIVEN(me, 2) == LABELS * OBJECTS -> break
#endif
    od;
    owner_done;
#ifndef TWO
    take_strays();
    i = 2;
    do
    :: i <= LABEL(OBJECTS, 1) -> assert(until[i] == 0); i++
    :: else -> break
    od;
#endif
    others_done++;
    others_done == OTHERS;
    assert(object == OBJECTS);
#ifdef TWO
    assert(label == OWN_LABEL(OBJECTS) || IS_OF(0) || IS_OF(1))
#else
    assert(IS_OF(0))
#endif
}

#ifdef READER
proctype reader()
{
    byte is_object, is_state, is_creator, is_label;
    bool is_same;

#ifdef BROKEN_READ
    is_state = state;
    is_object = object;
#else
    is_object = object;
    is_state = state;
#endif
    is_creator = creator;
    is_label = label;
#ifdef BROKEN_READ
    is_same = (state == is_state);
#else
    is_same = true;
#endif
    if
    :: (is_state & USED) != 0 && is_same && is_object == object ->
        assert(is_creator == is_object);
        assert(is_label == 0 || is_label % 16 / 2 == is_object)
    :: else -> skip
    fi
}
#endif

init
{
    atomic {
        run owner();
        run other(0);
#ifdef TWO
        run other(1);
#endif
#ifdef READER
        run reader()
#endif
    }
}
