/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_MODEL_H
#define TRACE_MODEL_H

/*
 * A stream, added up. Each CPU's packets are added in order; then the model
 * holds
 *
 *   nodes   the tree of call stacks: each is an address and its caller's node
 *   cells   for each (node, task, cpu) that was sampled: how often, how long
 *   tasks   what samples hit: where the object that ran was created, and by
 *           which other task
 *   totals  of everything that has no stack: idle, dropped, missed, ...
 *
 * Ten million samples are a few thousand cells; the samples themselves are not
 * kept. To get them one by one, read the packets again (struct model_watch)
 * once all nodes are known.
 *
 * What a stream can make a model hold is limited. Samples beyond a limit are
 * counted as [stack unknown], without a task.
 *
 * A count has a weight of each kind: samples, and the clocks that they account
 * for. Time in which the host did not run the guest (stolen) is in no count.
 */

#include "base/checked.h"
#include "base/index.h"
#include "trace/event.h"
#include "trace/guest_names.h"
#include "trace/packet.h"

#define MODEL_NODES_MAX (1u << 22)
#define MODEL_CELLS_MAX (1u << 22)
#define MODEL_TASKS_MAX (1u << 16)
#define MODEL_TASK_DEPTH 32u /* creators of creators */
#define MODEL_OBJECTS_MAX (1u << 22)
#define MODEL_PLACES_MAX (1u << 16) /* (task, cpu) with samples */
#define MODEL_CPUS_MAX 256u
#define MODEL_NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)
#define MODEL_STACK_MAX 256u /* nodes of one stack; a guest sends 128 */

/* What a stack weighs: a number of each kind. */
enum model_weight { MODEL_SAMPLES, MODEL_CLOCKS, MODEL_WEIGHTS };

struct model_count {
    union {
        uint64_t weights[MODEL_WEIGHTS];
        struct {
            uint64_t samples;
            uint64_t clocks; /* 1/PROF_CLOCK_HZ */
        };
    };
};

static inline void model_count_add(struct model_count *to,
                                   const struct model_count *count)
{
    for (int i = 0; i < MODEL_WEIGHTS; ++i)
        to->weights[i] = checked_add(to->weights[i], count->weights[i]);
}

/* Nodes that no guest sends, for samples without a stack. */
enum model_pseudo {
    MODEL_EMPTY,     /* the empty stack, the guest's node 0 */
    MODEL_IDLE,      /* the CPU was halted */
    MODEL_DROPPED,   /* samples about which nothing is known */
    MODEL_OVERFLOW,  /* caller of addresses whose callers are unknown */
    MODEL_UNDEFINED, /* a stack whose definition was lost */
    MODEL_PSEUDOS,
};

/* A node by its number, which is the model's own and dense. */
struct model_node {
    uint64_t address; /* MODEL_EMPTY .. : none */
    uint32_t parent;  /* number */
    bool defined;
};

struct model_cell {
    uint32_t node; /* number */
    uint32_t task; /* 0 = none */
    uint32_t cpu;
    struct model_count count;
};

/* A task by its number, which is the model's own, from 1 on. */
struct model_task {
    uint32_t creator;  /* task, 0 = none */
    uint32_t site;     /* name, 0 = unknown */
    uint64_t function; /* that it runs, 0 = unknown */
    uint32_t object;   /* the one that it is, where no creation was seen */
};

/* State of one CPU while packets are read. A missing packet is missing on its
 * CPU only; the others' time continues. */
struct model_cpu {
    uint32_t cpu;
    uint32_t task;      /* that is running */
    uint32_t object;    /* the same as the guest's object */
    uint32_t irq_depth; /* interrupts that have begun */
    uint64_t previous;  /* clock of the sample or start before */
    uint64_t stolen;    /* since then, not the next sample's */
    bool known;         /* there was one since the last gap */
    bool irqs_off;      /* this sample, or the next, had interrupts off */
    struct packet_order order;
    uint64_t discarded; /* samples, from its last packet */
    uint64_t gaps;      /* in its packets: what came between is not known */
    uint64_t weighed;   /* samples that the weigher was asked about */

    struct model_count busy; /* samples with a stack or an address */
    struct model_count idle; /* halted */
    struct model_count off;  /* of both, with interrupts off */
    uint64_t dropped;        /* samples */
    uint64_t missed;         /* ticks */
    bool has_clock;          /* a CPU event came, with */
    struct event_cpu clock;  /* what it says */
    bool has_nmis;           /* an NMI event came, the last of which is */
    struct event_nmi last_nmi;
    struct event_nmi nmi; /* by how much they have grown */
};

/* Called for each event, if not NULL; (node) is the number of a sample's node,
 * (clocks) the time that it accounts for. */
struct model_watch {
    void (*event)(void *owner, const struct event *event, uint32_t node,
                  uint64_t clocks, const struct model_cpu *cpu);
    void *owner;
};

/* Called for each sample in [from, to), if not NULL, before it is counted:
 * whether it counts in a cell and is watched, and as what. Totals, and those of
 * its CPU, have it in any case. (cpu->weighed) is its number among the CPU's,
 * which is the same each time that the same packets are read. */
struct model_weigher {
    bool (*weigh)(void *owner, const struct event *event, uint32_t node,
                  const struct model_cpu *cpu, struct model_count *count);
    void *owner;
};

/* Starts as zeros, or with (from), (to), (watch) and (weigher) set. */
struct model {
    uint64_t from; /* clocks; events outside [from, to) are left out */
    uint64_t to;   /* 0 = no end */
    struct model_watch watch;
    struct model_weigher weigher;

    struct event_hello hello; /* version 0: none came */
    uint32_t rate_mhz;        /* of the last start */
    uint32_t depth;
    uint64_t begin; /* of the first packet, clocks */
    uint64_t end;   /* of the last one */
    bool ended;     /* a BYE came, with */
    uint32_t code;

    struct model_node *nodes;
    struct index node_numbers;       /* by the guest's number, or a key */
    struct index overflow_addresses; /* of nodes without callers */
    struct model_cell *cells;
    struct index cell_tasks; /* (task, cpu) */
    struct index cell_keys;  /* (node, number in cell_tasks) */
    struct model_task *tasks;
    struct index task_keys; /* (creator, site), objects */
    struct index objects;   /* the guest's numbers */
    uint32_t *object_tasks;
    struct guest_names names;
    struct model_cpu *cpus;
    size_t cpu_count;

    struct event_loop loop; /* the last account of all time; 0: none came */

    struct model_count stacks; /* samples with a stack */
    struct model_count idle;
    struct model_count overflowed; /* with an address alone */
    struct model_count dropped;
    uint64_t missed_ticks;
    uint64_t whole_intervals;  /* between samples, with nothing stolen */
    uint64_t equal_intervals;  /* of these: one mean period */
    uint64_t stolen_clocks;    /* the guest did not run; in no count */
    bool steal_clock;          /* that is the hypervisor's own account */
    uint64_t stopped_walks[8]; /* samples, by enum prof_walk_stop */
    uint64_t discarded;        /* samples, as reported by the guest */
    uint64_t events;
    uint64_t packets;
    uint64_t missing_packets; /* gaps in the sequence */
    uint64_t lost_events;     /* of tasks, overwritten in the guest */
    uint32_t lost_at_once;    /* the most of these */
    uint64_t unread_packets;  /* not all was understood */
    uint64_t suspend_stacks;  /* suspends with a stack */
    uint64_t unkept_samples;  /* beyond a limit, in the cell */
    uint32_t unkept_cell;
};

void model_take(struct model *model, const struct packet *packet);

/* The same for a caller who decodes the packet, once for several readers: its
 * head; each event, unless the head returned NULL; and whether all of it was
 * understood. */
struct model_cpu *model_begin_packet(struct model *model,
                                     const struct packet *packet);
void model_take_event(struct model *model, struct model_cpu *cpu,
                      const struct event *event);
void model_end_packet(struct model *model, bool understood);

/* State of CPU (number); NULL before its first packet. */
const struct model_cpu *model_cpu(const struct model *model, uint32_t cpu);

/* How wrong the clock of (cpu) may be, in microseconds; NAN = unknown. */
double model_clock_error(const struct model *model,
                         const struct model_cpu *cpu);

/* How many CPUs were sampled: others have events of objects alone. */
size_t model_sampled_cpus(const struct model *model);

/* Puts the cells of (from) into (to): another reading of the same packets, by a
 * weigher. (from) has those of (to) then. */
void model_swap_cells(struct model *to, struct model *from);

/* How many nodes, cells and tasks there are. */
static inline uint32_t model_nodes(const struct model *model)
{
    return model->node_numbers.count;
}

static inline uint32_t model_cells(const struct model *model)
{
    return model->cell_keys.count;
}

/* The number of the guest's node (node), MODEL_UNDEFINED if none came. */
uint32_t model_node(const struct model *model, uint32_t node);

/* The cell of samples of (node), (task) and (cpu), or INDEX_NONE. */
uint32_t model_cell_of(const struct model *model, uint32_t node, uint32_t task,
                       uint32_t cpu);

/* All samples: with a stack or an address, and idle; the clocks of these and
 * of the dropped ones; and the samples that were lost. */
uint64_t model_samples(const struct model *model);
uint64_t model_clocks(const struct model *model);

/* Whether most samples came one mean period after the one before: the period
 * did not vary, and shares of code that runs in step with it are wrong. */
bool model_is_steady(const struct model *model);
uint64_t model_lost(const struct model *model);

/* The prof.trace_kb= with which (events) that were overwritten at once, in a
 * guest with the default, would not have been. */
unsigned model_trace_kib(uint64_t events);

/* Writes to (stack) the numbers of the nodes from (node) to its outermost
 * caller, at most (room) and MODEL_STACK_MAX of them, and returns how many.
 * Nodes without an address may be the last one; MODEL_EMPTY never is. */
size_t model_stack(const struct model *model, uint32_t node, uint32_t *stack,
                   size_t room);

void model_free(struct model *model);

#endif
