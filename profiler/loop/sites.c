/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sites, contexts, and the tasks of a site that have not ended.
 *
 * Each site has a top node from the start, so there is always one to turn to:
 * where no node is left, a task belongs to its site's top one.
 */

#include "loop/calls.h"
#include "loop/loop.h"

#define NODES_A_SITE 6u
#define HEADS_A_NODE 1u

#define SITE_BYTES                                                             \
    (sizeof(struct prof_loop_site) +                                           \
     NODES_A_SITE * (sizeof(struct prof_loop_node) + 2 * sizeof(uint16_t)))
_Static_assert(SITE_BYTES <= PROF_LOOP_SITE_BYTES, "the budget of a site");
_Static_assert(PROF_LONG_RUNS_BYTES + PROF_LOOP_LONG_BYTES <=
                   PROF_LOOP_SITE_BYTES,
               "that of long runs");

struct prof_loop_sites prof_loop_tables[PROF_LOOP_STATES];

static PROF_TRACE_NAME(loop_name, "(event loop)");
static PROF_TRACE_NAME(idle_name, "(idle)");
static PROF_TRACE_NAME(profiler_name, "(profiler)");
static PROF_TRACE_NAME(others_name, "(others)");

static inline struct prof_loop_sites *here(void)
{
    return prof_loop_sites_here();
}

static struct prof_loop_node *add_node(struct prof_loop_node *parent,
                                       struct prof_loop_site *site)
{
    struct prof_loop_node *node = &here()->nodes[here()->node_count++];

    *node =
        (struct prof_loop_node){.site = site, .parent = parent, .leader = node};
    return node;
}

static struct prof_loop_site *add_site_at(uint32_t number,
                                          struct prof_trace_name *name,
                                          enum prof_loop_kind kind)
{
    struct prof_loop_site *site = &here()->sites[number];

    *site = (struct prof_loop_site){
        .row = {
            .number = prof_loop_site_number(site), .kind = kind, .site = name}};
    prof_histograms_clear(&site->histograms);
    site->top = add_node(NULL, site);
#if PROF_CPUS_MAX > 1
    here()->begun++;
    if (number >= here()->site_count)
        here()->site_count = number + 1;
#endif
    return site;
}

static struct prof_loop_site *add_site(struct prof_trace_name *name,
                                       enum prof_loop_kind kind)
{
#if PROF_CPUS_MAX > 1
    return add_site_at(here()->site_count, name, kind);
#else
    return add_site_at(here()->site_count++, name, kind);
#endif
}

void prof_loop_sites_open(void *memory, size_t bytes)
{
    /* the long runs take the place of one */
    uint32_t sites = (uint32_t)(bytes / PROF_LOOP_SITE_BYTES) - 1;
    uint32_t heads = 1;

    *here() = (struct prof_loop_sites){
        .sites = memory, .site_max = sites, .node_max = sites * NODES_A_SITE};
    if (here()->node_max > UINT16_MAX)
        here()->node_max = UINT16_MAX;
#if PROF_CPUS_MAX > 1
    if (sites > here()->node_max) /* each needs a node for its top */
        here()->site_max = here()->node_max;
#endif
    while (heads * 2 <= here()->node_max * 2)
        heads *= 2;
    here()->nodes = (void *)(here()->sites + sites);
    here()->heads = (void *)(here()->nodes + here()->node_max);
    here()->heads_mask = heads - 1;
#if PROF_CPUS_MAX > 1
    /* another CPU's is clear already, and its interrupts are off */
    if (prof_loop_is_first()) {
        prof_clear_words(here()->heads,
                         heads * sizeof *here()->heads / sizeof(void *));
        prof_clear_words(here()->sites,
                         sites * sizeof *here()->sites / sizeof(void *));
    }
#else
    prof_clear_words(here()->heads,
                     heads * sizeof *here()->heads / sizeof(void *));
#endif
    prof_long_runs_open((char *)memory + sites * PROF_LOOP_SITE_BYTES);
    prof_loop_rebase_open((char *)memory + sites * PROF_LOOP_SITE_BYTES +
                          PROF_LONG_RUNS_BYTES);
    add_site(&loop_name, PROF_LOOP_LOOP);
    add_site(&idle_name, PROF_LOOP_IDLE);
    add_site(&profiler_name, PROF_LOOP_PROFILER);
    add_site(&others_name, PROF_LOOP_OTHERS);
}

void prof_loop_sites_reset(void)
{
    for (uint32_t i = 0; i < here()->site_count; i++) {
        struct prof_loop_site *site = &here()->sites[i];

        if (!prof_loop_site_begun(site))
            continue;
        site->row = (struct prof_loop_row){.number = i,
                                           .kind = site->row.kind,
                                           .site = site->row.site,
                                           .pending = site->row.pending};
        prof_histograms_clear(&site->histograms);
        site->notable = 0;
    }
    for (uint32_t i = 0; i < here()->node_count; i++)
        here()->nodes[i].self_cycles = here()->nodes[i].calls = 0;
    here()->refused_contexts = 0;
}

#if PROF_CPUS_MAX == 1

struct prof_loop_site *prof_loop_site_new(struct prof_trace_name *name,
                                          enum prof_loop_kind kind)
{
    /* a node must be left for its top */
    if (here()->site_count < here()->site_max &&
        here()->node_count < here()->node_max) {
        name->loop = prof_loop_site_number(add_site(name, kind));
    } else {
        name->loop = PROF_SITE_OTHERS;
        here()->refused++;
    }
    return &here()->sites[name->loop];
}

#else

/* The number of (name), which another CPU may give it meanwhile. */
static uint32_t number_of(struct prof_trace_name *name)
{
    bool on = prof_loop_lock();
    uint32_t number = prof_loop_number_of(name);

    if (number == 0 && !prof_loop_next_number(&number)) {
        number = PROF_SITE_OTHERS;
        here()->refused++;
    }
    __atomic_store_n(&name->loop, number, __ATOMIC_RELAXED);
    prof_loop_unlock(on);
    return number;
}

/* There is a node for its top: is_full() sees to that. */
struct prof_loop_site *prof_loop_site_new(struct prof_trace_name *name,
                                          enum prof_loop_kind kind)
{
    uint32_t number = number_of(name);
    struct prof_loop_site *site = &here()->sites[number];

    return prof_loop_site_begun(site) ? site : add_site_at(number, name, kind);
}

#endif

static uint16_t *head_of(const struct prof_loop_node *parent,
                         const struct prof_loop_site *site)
{
    uint32_t hash =
        prof_loop_node_number(parent) * 31 + prof_loop_site_number(site) * 7;

    return &here()->heads[hash & here()->heads_mask];
}

/* Whether (site) is (node)'s or of one of those above. */
static bool is_on_path(const struct prof_loop_node *node,
                       const struct prof_loop_site *site)
{
    for (; node != NULL; node = node->parent)
        if (node->site == site)
            return true;
    return false;
}

/* Nodes that are kept for the tops of new sites. */
static bool is_full(void)
{
    uint32_t tops = here()->site_max - prof_loop_sites_begun(here());

    return here()->node_count + tops >= here()->node_max;
}

struct prof_loop_node *prof_loop_node_below(struct prof_loop_node *parent,
                                            struct prof_loop_site *site)
{
    struct prof_loop_node *node;
    uint16_t *head;

    parent = parent->leader;
    if (parent->site == site)
        return parent;
    head = head_of(parent, site);
    for (uint32_t i = *head; i != 0; i = node->next) {
        node = &here()->nodes[i - 1];
        if (node->parent == parent && node->site == site)
            return node;
    }
    if (is_full()) {
        here()->refused_contexts++;
        return site->top;
    }
    node = add_node(parent, site);
    if (is_on_path(parent, site))
        node->leader = parent;
    node->next = *head;
    *head = (uint16_t)(prof_loop_node_number(node) + 1);
    return node;
}

/* ---- tasks
 *
 * Those of a site that are pending are a list in the order of their creation:
 * its head is the oldest.
 */

static void link_pending(struct prof_loop_site *site,
                         struct prof_loop_task *task)
{
    task->newer = NULL;
    task->older = site->newest;
    if (site->newest != NULL)
        site->newest->newer = task;
    else
        site->oldest = task;
    site->newest = task;
    site->row.pending++;
}

static void unlink_pending(struct prof_loop_site *site,
                           struct prof_loop_task *task)
{
    if (task->older != NULL)
        task->older->newer = task->newer;
    else
        site->oldest = task->newer;
    if (task->newer != NULL)
        task->newer->older = task->older;
    else
        site->newest = task->older;
    site->row.pending--;
}

void prof_loop_put_create(struct prof_loop_task *task,
                          struct prof_trace_name *name, uint32_t object)
{
    struct prof_loop_site *site = prof_loop_site_of(name, PROF_LOOP_TASKS);
    struct prof_loop_node *creator = prof_loop_cpu_here()->top->node;

    if (creator->site->row.kind > PROF_LOOP_OTHERS)
        creator = NULL;
    task->frame.site = site;
    task->frame.node = prof_loop_node_of(creator, site);
    task->frame.node->calls++;
    site->row.calls++;
    task->frame.object = object;
    prof_loop_set_not_ready(task);
    task->created = prof_loop_tsc();
    link_pending(site, task);
    if (__builtin_expect(prof_loop_calls_on != 0, 0)) {
        site->has_calls = true;
        site->histograms.notable = 0;
        prof_calls_begin(site, object, 0);
    }
}

void prof_loop_put_adopt(struct prof_loop_task *task,
                         const struct prof_loop_task *parent)
{
    task->frame.node = prof_loop_node_of(
        parent != NULL ? parent->frame.node : NULL, task->frame.node->site);
}

void prof_loop_put_end(struct prof_loop_task *task, enum prof_loop_end how)
{
    struct prof_loop_site *site = task->frame.node->site;
    uint64_t wall = prof_loop_tsc() - task->created;

    (&site->row.resolved)[how]++; /* in the order of the enum */
    site->row.sums[PROF_LOOP_WALL].cycles += wall;
    prof_histograms_add(&site->histograms, PROF_LOOP_WALL, wall);
    unlink_pending(site, task);
    if (__builtin_expect(prof_loop_calls_on != 0, 0))
        prof_calls_end(site, task->frame.object);
}
