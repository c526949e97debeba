/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_TASKS_H
#define TASKS_TASKS_H

/*
 * The objects of a trace (<prof/trace.h>: tasks, promises and whatever else may
 * wait or be waited for), and what happened to them:
 *
 *   objects    who created it and where, how it ended, how long it ran
 *   stretches  what an object did from when to when: run, wait, be ready, ...
 *   edges      one object does something to another: create, read, wake, ...
 *   labels, counters, pauses, interrupts, losses   each with its time
 *   problems   what cannot be true of any program (tasks_problem_text())
 *
 * Packets are added in the order of their time, or the events of several CPUs
 * in the order of theirs (tasks_read()). An object is known by its number here,
 * which is dense; stretches, edges and so on are in the order in which they
 * came. A million events of 200,000 objects are about 100 MB.
 *
 * Several CPUs. Each has an event loop, which is an object, and a stack of who
 * runs. Objects are common. Clocks of CPUs agree within an error: what one CPU
 * does to an object of another may come before that object's creation or end,
 * by (skew) at most, and is no problem then.
 *
 * Where something is missing. An object that was created before the trace
 * began, or in a loss, is known as soon as an event mentions it; (created) says
 * whether its creation was seen. From a loss on, what an object does is
 * TASKS_UNKNOWN until an event says it. One that no event mentions after a loss
 * may have ended in it: it is TASKS_UNSEEN, and lasts until the loss. What a
 * damaged or hostile stream can make this hold is limited; what is beyond is
 * counted in (unkept).
 */

#include "base/index.h"
#include "trace/event.h"
#include "trace/guest_names.h"
#include "trace/packet.h"
#include "trace/trace.h"

#include <prof/format.h>

#define TASKS_OBJECTS_MAX (1u << 22)
#define TASKS_RECORDS_MAX (1u << 26) /* of each kind */
#define TASKS_NESTED_MAX 64u /* interrupts, or objects that run others */
#define TASKS_CPUS_MAX 256u
#define TASKS_PROBLEMS_MAX 10000u /* that are kept; all are counted */

/* Numbers of objects that always exist, and no object. */
enum {
    TASKS_LOOP,    /* the event loop, object 0 of the guest */
    TASKS_NOBODY,  /* an object that is not known */
    TASKS_SPECIAL, /* how many these are */
};
#define TASKS_NONE UINT32_MAX
#define TASKS_INTERRUPT (1u << 31) /* with a number in (irqs): who did it */

/* The loop of CPU n, from 1 on, is the object with this number, n added: the
 * recorder gives none of these. */
#define TASKS_LOOPS 0xffff0000u
#define TASKS_NEVER UINT64_MAX /* a time */

/* What an object does. */
enum tasks_state {
    TASKS_PENDING, /* it exists; for a promise there is nothing else */
    TASKS_RUNNING,
    TASKS_PAUSED,  /* it runs another object, which has not returned */
    TASKS_WAITING, /* suspended, for a reason */
    TASKS_READY,   /* woken, and does not run yet */
    TASKS_ENDED,
    TASKS_UNKNOWN, /* events are missing */
    TASKS_STATES,
};

/* How it ended. */
enum tasks_end {
    TASKS_OPEN, /* it did not */
    TASKS_RESOLVED,
    TASKS_FAILED,
    TASKS_CANCELLED,
    TASKS_GONE,   /* freed without any of these */
    TASKS_BECAME, /* another object */
    TASKS_LOST,   /* that it ended is known, but not how */
    TASKS_UNSEEN, /* whether it ended is not known */
    TASKS_ENDS,
};

struct tasks_object {
    uint64_t begin; /* when it was created, or first mentioned */
    uint64_t end;   /* TASKS_NEVER while it is open; LOST: at the latest */
    uint64_t since; /* when (state) began */
    uint64_t clocks[TASKS_STATES]; /* spent in each state until (since) */
    uint32_t id;                   /* the guest's number */
    uint32_t creator;     /* an object, TASKS_INTERRUPT or TASKS_NOBODY */
    uint32_t becomes;     /* number, TASKS_NONE if it does not */
    uint32_t awaits;      /* what it looked at last, TASKS_NONE = nothing */
    uint32_t runs;        /* how often it was switched to */
    uint32_t stretches;   /* its last one, TASKS_NONE = none */
    uint32_t stack;       /* it waits in, 0 = not recorded */
    uint32_t known;       /* losses before (was_there) was known last */
    uint32_t known_state; /* and before (since) */
    uint32_t dump;        /* the last that lists it, 0 = none does */
    uint16_t site;        /* names by the guest's numbers, 0 = unknown */
    uint16_t label;       /* the last one */
    uint16_t why;         /* it waits, or failed */
    uint16_t cpu;         /* on which it ran first, or else was created */
    uint16_t ran;         /* on which it ran last, or else the same */
    uint8_t kind;         /* enum prof_trace_kind */
    uint8_t state;
    uint8_t ending; /* enum tasks_end */
    bool created;   /* the trace has its creation */
    bool was_ended; /* when the trace began, or when a dump was made */
    bool was_there; /* an event says that it had begun and not ended */
    bool listed;    /* an ALIVE says that it was there, or had ended */
    bool suspect;   /* it was mentioned, and should have been created before */
    uint64_t early; /* when it was read, or run, before or after its end, which
                       may be another CPU's clock, 0 = never */
};

/* What an object did in [from, to); PENDING and ENDED are not listed. */
struct tasks_stretch {
    uint64_t from;
    uint64_t to;
    uint32_t object;
    uint32_t before; /* the same object's stretch before, TASKS_NONE */
    uint32_t other;  /* WAITING: for which object; READY: who woke it */
    uint32_t stack;  /* WAITING: where, the guest's node, 0 = not recorded */
    uint16_t why;    /* WAITING */
    uint8_t state;
    uint8_t cpu; /* RUNNING */
};

enum tasks_edge_kind {
    TASKS_CREATE,
    TASKS_READ,
    TASKS_TRY_READ,
    TASKS_RESOLVE,
    TASKS_FAIL,
    TASKS_CANCEL,
    TASKS_SIGNAL,
    TASKS_WAKE, /* from: who does it; (by): because of what */
    TASKS_BECOME,
    TASKS_DEFER,
    TASKS_EDGES,
};

struct tasks_edge {
    uint64_t time;
    uint32_t from; /* who: an object, or TASKS_INTERRUPT with an irq */
    uint32_t to;
    uint32_t by; /* SIGNAL: the source; WAKE: because of what */
    uint8_t kind;
    uint8_t cpu; /* that did it */
};

struct tasks_label {
    uint64_t time;
    uint32_t object;
    uint16_t name;
};

struct tasks_counter {
    uint64_t time;
    int64_t value;
    uint16_t name;
    uint32_t object; /* current, or TASKS_INTERRUPT */
};

struct tasks_pause {
    uint64_t from;
    uint64_t to;
    uint16_t why;
    uint16_t cpu;
};

/* The hypervisor did not run the guest in [from, to). */
struct tasks_stolen {
    uint64_t from;
    uint64_t to;
    uint16_t cpu;
};

struct tasks_irq {
    uint64_t from;
    uint64_t to;     /* TASKS_NEVER: no end was seen */
    uint64_t woke;   /* when the event loop ran on whose idleness it ended,
                        0 = it did not end it */
    uint32_t object; /* that it interrupted */
    uint16_t cpu;
    uint8_t vector;
    uint8_t depth; /* interrupts that it interrupted */
};

struct tasks_loss {
    uint64_t from;    /* the last event before it */
    uint64_t to;      /* the first event after it */
    uint32_t events;  /* 0 = not known */
    uint32_t packets; /* that are missing, with (events) of objects */
    uint32_t dump;    /* in which this is, 0 = in none */
    uint32_t first;   /* the first of those before it with the same dump */
    uint32_t after;   /* of the first one: the first with another dump */
    uint16_t cpu;
};

struct tasks_message {
    uint64_t time;
    uint32_t message; /* what both machines call it */
    uint32_t object;  /* current, or TASKS_INTERRUPT */
    bool sent;        /* else it was received */
};

enum tasks_problem_kind {
    TASKS_CREATED_TWICE,
    TASKS_NEVER_CREATED, /* and no loss is marked in which it was */
    TASKS_ENDED_TWICE,
    TASKS_READ_EARLY,  /* before the source ended */
    TASKS_RUNS_ENDED,  /* switched to after its end */
    TASKS_NOT_NESTED,  /* a switch past an object that has not returned */
    TASKS_IRQ_SWITCH,  /* between irq_enter and irq_exit */
    TASKS_IRQ_EXIT,    /* without its irq_enter */
    TASKS_TIME_BACK,   /* a packet begins before the last one ended */
    TASKS_TIME_BEYOND, /* an event is later than its packet's end */
    TASKS_NO_NAME,     /* a name is used and defined nowhere */
    TASKS_NOT_READ,    /* the rest of a packet makes no sense */
    TASKS_NOT_MARKED,  /* fewer events came, or are marked as lost, than the
                          recorder has counted */
    TASKS_TOO_MANY,    /* more of them */
    TASKS_PROBLEM_KINDS,
};

/* A place in the stream. */
struct tasks_place {
    uint64_t time;
    uint32_t packet; /* its sequence */
    uint32_t event;  /* in the packet, from 1 */
    uint16_t cpu;
};

struct tasks_problem {
    struct tasks_place place;
    uint32_t object; /* the guest's number, or a name's, or a vector */
    uint32_t other;
    uint8_t kind;
};

/* While packets are read. */
struct tasks_cpu {
    uint16_t cpu;   /* as in the packets: with PROF_CPU_HISTORY, of dumps */
    uint32_t loop;  /* its event loop, TASKS_NOBODY = not mentioned yet */
    uint32_t error; /* of its clock, in cycles */
    struct tasks_place place; /* of its last event */
    bool late;                /* its first packet is missing */
    bool beyond; /* its last event was later than its packet's end */
    struct packet_order order;
    uint64_t packet_end;
    uint64_t time;    /* of its last event */
    uint64_t acted;   /* of its last event of objects */
    uint32_t current; /* TASKS_NOBODY = not known */
    bool left;        /* the current object was suspended or ended */
    bool idle;        /* the loop was suspended */
    bool fresh;       /* no event of objects yet in this packet */
    uint32_t waker;   /* the first interrupt since it is idle, TASKS_NONE */
    bool unsure;      /* interrupts may have begun that are not known,
                               until an object is switched to */
    uint32_t nested[TASKS_NESTED_MAX]; /* PAUSED objects, TASKS_LOOP */
    uint32_t nested_count;
    uint32_t irqs[TASKS_NESTED_MAX]; /* that have not ended */
    uint32_t irq_count;
    uint32_t recorded; /* events that came or are marked as lost, */
    bool counts;       /* if all of these are known */
    bool counted;      /* the recorder has said how many there were */
    bool repeats;      /* the next switch was not recorded */
    uint32_t dump;     /* that is read, 0 = none */
    uint32_t marked;   /* loss whose end is the next event, TASKS_NONE */
    uint32_t resumed;  /* who is current at that, TASKS_NONE = not said */
    uint32_t gap;      /* loss of packets before here, TASKS_NONE = none */
    uint32_t before;   /* events before the trace begins, 0 = not known */
};

/* Starts as zeros. Each vector has its count. */
struct tasks {
    struct tasks_object *objects;
    struct index ids; /* of objects */
    struct tasks_stretch *stretches;
    struct tasks_edge *edges;
    struct tasks_label *labels;
    struct tasks_counter *counters;
    struct tasks_pause *pauses;
    struct tasks_irq *irqs;
    struct tasks_loss *losses;
    struct tasks_message *messages;
    struct tasks_stolen *stolen;
    struct tasks_problem *problems;
    uint32_t stretch_count;
    uint32_t edge_count;
    uint32_t label_count;
    uint32_t counter_count;
    uint32_t pause_count;
    uint32_t irq_count;
    uint32_t loss_count;
    uint32_t dumps;
    uint32_t message_count;
    uint32_t stolen_count;
    uint32_t problem_count;                       /* of those that are kept */
    uint64_t problem_counts[TASKS_PROBLEM_KINDS]; /* of all */
    struct guest_names names;
    uint8_t *used_names; /* 1 = an event has that name */
    uint32_t used_name_count;
    uint64_t begin; /* of the first packet, and the end of the last */
    uint64_t end;
    uint64_t unix_seconds;  /* UTC at clock 0, 0 = unknown */
    uint64_t events;        /* of objects */
    uint64_t stacks;        /* suspends with a stack */
    uint64_t unkept;        /* events beyond a limit */
    uint32_t first_created; /* the lowest id with a creation, 0 = none yet */
    uint32_t last_created;  /* the highest */
    uint32_t created_before_loss; /* the highest before the first loss */
    uint64_t skew;                /* clocks, by which the CPUs' may differ */
    uint64_t tsc_hz;              /* 0 = not known */
    struct tasks_cpu *cpus;
    size_t cpu_count;
    uint32_t loop_count;      /* of CPUs but the first */
    struct tasks_place place; /* of the event being taken */
};

static inline uint32_t tasks_objects(const struct tasks *tasks)
{
    return tasks->ids.count;
}

/* Whether (object), below tasks_objects(), is the event loop of a CPU. */
static inline bool tasks_is_loop(const struct tasks *tasks, uint32_t object)
{
    return object == TASKS_LOOP ||
           (object >= TASKS_SPECIAL && tasks->objects[object].id > TASKS_LOOPS);
}

/* Whether it is one that the guest has created. */
static inline bool tasks_is_real(const struct tasks *tasks, uint32_t object)
{
    return object >= TASKS_SPECIAL && tasks->objects[object].id <= TASKS_LOOPS;
}

/* How many of these there are. */
static inline uint32_t tasks_real_objects(const struct tasks *tasks)
{
    return tasks_objects(tasks) - TASKS_SPECIAL - tasks->loop_count;
}

/* The CPU that what (cpu) has in its packets' heads is about, in a dump as
 * well. */
static inline uint16_t tasks_cpu_number(uint16_t cpu)
{
    return cpu % PROF_CPU_HISTORY;
}

/* Adds a packet. */
void tasks_take(struct tasks *tasks, const struct packet *packet);

/* The same for a caller who decodes the packet, once for several readers: its
 * head; each event, unless the head returned NULL; and after the last one. */
struct tasks_cpu *tasks_begin_packet(struct tasks *tasks,
                                     const struct packet *packet);
void tasks_take_event(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event *event);
void tasks_end_packet(struct tasks *tasks, struct tasks_cpu *cpu,
                      const struct event_reader *reader);

/* After the last packet: closes all stretches at the end of the trace. */
void tasks_finish(struct tasks *tasks);

/* Both, for all packets of (trace); and with a model, which takes them too. */
void tasks_read(struct tasks *tasks, const struct trace *trace);
void tasks_read_with(struct tasks *tasks, struct model *model,
                     const struct trace *trace);

void tasks_free(struct tasks *tasks);

/* Since when the open (object) is in its state; at most tasks->end. */
uint64_t tasks_standing_since(const struct tasks *tasks, uint32_t object);

/* The number of the object with the guest's number (id), TASKS_NONE. */
uint32_t tasks_object(const struct tasks *tasks, uint32_t id);

/* What (object) is in the end, after all that it becomes. */
uint32_t tasks_became(const struct tasks *tasks, uint32_t object);

/* Words for people: "task", "running", "resolved", "try_read". */
const char *tasks_kind_word(uint8_t kind);
const char *tasks_state_word(uint8_t state);
const char *tasks_end_word(uint8_t ending);
const char *tasks_edge_word(uint8_t kind);

#define TASKS_TEXT_MAX 400u /* bytes of the following */

/* "handle_client 17": label, site or kind of (object), perhaps TASKS_INTERRUPT,
 * and its number; to (text), of TASKS_TEXT_MAX, which is returned. */
const char *tasks_title(const struct tasks *tasks, uint32_t object, char *text);

/* "2 packets with 1,612 events": what is missing there. Writes as above. */
const char *tasks_loss_text(const struct tasks_loss *loss, char *text);

/* One line about all that is missing. False: nothing is; (text) is empty. */
bool tasks_missing_text(const struct tasks *tasks, char *text);

/* One line about a problem, without its place. */
const char *tasks_problem_text(const struct tasks *tasks,
                               const struct tasks_problem *problem, char *text);

#endif
