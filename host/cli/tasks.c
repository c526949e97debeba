/* SPDX-License-Identifier: Apache-2.0 */
/* parasite tasks: what the tasks of a trace did, and what they wait for. */

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "tasks/interrupts.h"
#include "tasks/sites.h"

#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tasks_order {
    TASKS_BY_WAITING,
    TASKS_BY_READY,
    TASKS_BY_RUNNING,
    TASKS_BY_COUNT,
};

static struct {
    const char *input;
    enum tasks_order order;
    unsigned long rows; /* of each table, 0 = all */
    bool all;           /* what rests as well: tasks_rests() */
    bool interrupts;    /* these alone */
    bool json;
} request = {.input = "x.trace", .rows = 40};

/* ---- sites */

static uint64_t weight(const struct tasks_site *site)
{
    switch (request.order) {
    case TASKS_BY_READY:
        return site->clocks[TASKS_READY];
    case TASKS_BY_RUNNING:
        return site->clocks[TASKS_RUNNING];
    case TASKS_BY_COUNT:
        return site->objects;
    default: /* a promise only exists while it is waited for */
        return site->clocks[TASKS_WAITING] + site->clocks[TASKS_PENDING];
    }
}

static int by_weight(const void *left, const void *right)
{
    const struct tasks_site *a = left, *b = right;
    uint64_t one = weight(a), other = weight(b);

    if (one != other)
        return one > other ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static double clocks_ms(uint64_t clocks)
{
    return (double)clocks / (PROF_CLOCK_HZ / 1000.0);
}

static void print_site(const struct tasks *tasks, const struct tasks_site *site)
{
    const char *name = guest_names_text(&tasks->names, site->name);
    const char *file = guest_names_file(&tasks->names, site->name);

    printf("%8u %6u %6u %11.3f %11.3f %11.3f %11.3f  %-10s ",
           (unsigned)site->objects, (unsigned)site->ends[TASKS_OPEN],
           (unsigned)(site->ends[TASKS_FAILED] + site->ends[TASKS_CANCELLED]),
           clocks_ms(site->clocks[TASKS_WAITING] + site->clocks[TASKS_PENDING]),
           clocks_ms(site->clocks[TASKS_READY]),
           clocks_ms(site->clocks[TASKS_RUNNING]), clocks_ms(site->longest_run),
           tasks_kind_word(site->kind));
    printable_put(stdout, *name != '\0' ? name : "[site unknown]");
    if (*file != '\0') {
        fputs(" (", stdout);
        printable_put(stdout, file);
        printf(":%u)", (unsigned)guest_names_line(&tasks->names, site->name));
    }
    putchar('\n');
}

static void print_sites(const struct tasks *tasks)
{
    unsigned long rows = request.rows;
    struct tasks_sites sites = {0};
    uint32_t count;

    tasks_sites_add(&sites, tasks);
    count = tasks_sites_count(&sites);
    if (count > 0)
        qsort(sites.sites, count, sizeof *sites.sites, by_weight);
    if (!log_quiet)
        puts("#  count   open failed  waiting ms    ready ms  running ms"
             "  longest ms  kind       site");
    for (uint32_t i = 0; i < count && (rows == 0 || i < rows); ++i)
        print_site(tasks, &sites.sites[i]);
    if (rows > 0 && count > rows)
        printf("# and %lu sites more\n", (unsigned long)count - rows);
    tasks_sites_free(&sites);
}

/* ---- what still waits */

struct forest {
    const struct tasks *tasks;
    struct tasks_wait *waits;
    uint32_t count;
    bool *waited_for;   /* by object */
    bool *printed;      /* by object */
    unsigned long left; /* lines */
};

#define DEPTH_MAX 40u

static uint32_t first_wait(const struct forest *forest, uint32_t object)
{
    uint32_t low = 0, high = forest->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (forest->waits[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void print_open(const struct tasks *tasks, uint32_t number,
                       unsigned depth, const char *again)
{
    const struct tasks_object *object = &tasks->objects[number];
    const char *why = guest_names_text(&tasks->names, object->why);
    char title[TASKS_TEXT_MAX];

    printf("%*s", (int)(2 * depth), "");
    printable_put(stdout, tasks_title(tasks, number, title));
    if (object->state == TASKS_UNKNOWN) {
        printf(": %s, what it does is unknown%s\n",
               tasks_kind_word(object->kind), again);
        return;
    }
    printf(": %s %s for %.3f ms", tasks_kind_word(object->kind),
           tasks_state_word(object->state),
           clocks_ms(tasks->end - tasks_standing_since(tasks, number)));
    if (object->state == TASKS_WAITING && *why != '\0') {
        fputs(", ", stdout);
        printable_put(stdout, why);
    }
    puts(again);
}

/* Prints (object) and below it what it waits for, each object once. */
static void print_tree(struct forest *forest, uint32_t object, unsigned depth)
{
    bool again = forest->printed[object];

    if (forest->left == 0)
        return;
    --forest->left;
    print_open(forest->tasks, object, depth, again ? " (see above)" : "");
    if (again || depth == DEPTH_MAX)
        return;
    forest->printed[object] = true;
    for (uint32_t i = first_wait(forest, object);
         i < forest->count && forest->waits[i].object == object; ++i)
        print_tree(forest, forest->waits[i].other, depth + 1);
}

/* The trees of those that nobody waits for; then what is left: circles. */
static void print_forest(struct forest *forest)
{
    const struct tasks *tasks = forest->tasks;

    for (unsigned pass = 0; pass < 2; ++pass) {
        for (uint32_t i = 0; i < tasks_objects(tasks); ++i) {
            bool is_root =
                !forest->printed[i] && (pass == 1 || !forest->waited_for[i]);

            if (tasks_is_open(tasks, i) && is_root &&
                (request.all || !tasks_rests(tasks, i, forest->waited_for)))
                print_tree(forest, i, 0);
        }
    }
}

static void print_waits(const struct tasks *tasks)
{
    struct forest forest = {.tasks = tasks,
                            .left = request.rows > 0 ? request.rows : -1ul};
    uint32_t objects = tasks_objects(tasks), open = 0, rest = 0;

    forest.waits = tasks_waits(tasks, &forest.count);
    forest.waited_for = tasks_waited_for(tasks, forest.waits, forest.count);
    forest.printed = xreallocarray(NULL, objects + 1, 1);
    memset(forest.printed, 0, objects + 1);
    for (uint32_t i = 0; i < objects; ++i) {
        open += tasks_is_open(tasks, i);
        rest += tasks_rests(tasks, i, forest.waited_for);
    }
    if (!log_quiet && open > 0)
        printf("\n# open at the end, and below each what it waits for: %u\n",
               (unsigned)open);
    print_forest(&forest);
    if (!log_quiet && rest > 0 && !request.all)
        printf("# and %u that rest, nothing waits for them: --all lists "
               "them\n",
               (unsigned)rest);
    free(forest.waits);
    free(forest.waited_for);
    free(forest.printed);
}

/* ---- interrupts */

static double clocks_us(uint64_t clocks)
{
    return clocks_ms(clocks) * 1000;
}

/* Two columns: the median, and the 99th percentile. */
static void print_delays(const struct tasks_delays *delays)
{
    if (delays->count == 0)
        printf(" %10s %10s", "-", "-");
    else
        printf(" %10.1f %10.1f", clocks_us(tasks_delay_at(delays, 500)),
               clocks_us(tasks_delay_at(delays, 990)));
}

static void print_vector(const struct tasks *tasks, uint8_t vector,
                         const struct tasks_vector_sum *sum)
{
    char title[TASKS_TEXT_MAX];

    printf("%8u", (unsigned)sum->irqs);
    print_delays(&sum->handled);
    printf(" %6u %6u", (unsigned)sum->woke, (unsigned)sum->left);
    print_delays(&sum->ran);
    printf("  irq %u", (unsigned)vector);
    if (sum->object != TASKS_NONE) {
        fputs(", to ", stdout);
        printable_put(stdout, tasks_title(tasks, sum->object, title));
    }
    putchar('\n');
}

static void print_interrupts(const struct tasks *tasks)
{
    struct tasks_vectors vectors;
    struct tasks_vector_sum *sums;

    tasks_find_vectors(&vectors, tasks, TASKS_ANY_CPU);
    sums = tasks_sum_vectors(tasks, &vectors);
    if (!log_quiet)
        puts("#  count handled us        p99   woke   left   ran after"
             "        p99  interrupt");
    for (uint32_t i = 0; i < vectors.count; ++i)
        print_vector(tasks, vectors.all[i], &sums[i]);
    tasks_free_vector_sums(sums, &vectors);
}

static void print_tasks(const struct tasks *tasks)
{
    char text[TASKS_TEXT_MAX];

    if (request.interrupts) {
        print_interrupts(tasks);
    } else {
        print_sites(tasks);
        print_waits(tasks);
    }
    if (tasks_missing_text(tasks, text))
        printf("# %s: what is unknown there is in no column\n", text);
}

/* ---- JSON */

static json_t *clocks_ns(uint64_t clocks)
{
    return json_count(clocks * (1000000000u / PROF_CLOCK_HZ));
}

static json_t *site_json(const struct tasks *tasks,
                         const struct tasks_site *site)
{
    const struct guest_names *names = &tasks->names;
    json_t *object = json_object();

    json_set(object, "site", json_text(guest_names_text(names, site->name)));
    json_set(object, "file", json_text(guest_names_file(names, site->name)));
    json_set(object, "line", json_count(guest_names_line(names, site->name)));
    json_set(object, "kind", json_text(tasks_kind_word(site->kind)));
    json_set(object, "count", json_count(site->objects));
    for (uint8_t i = TASKS_OPEN; i < TASKS_ENDS; ++i)
        json_set(object, tasks_end_word(i), json_count(site->ends[i]));
    json_set(object, "runs", json_count(site->runs));
    json_set(object, "pending_ns", clocks_ns(site->clocks[TASKS_PENDING]));
    json_set(object, "running_ns", clocks_ns(site->clocks[TASKS_RUNNING]));
    json_set(object, "paused_ns", clocks_ns(site->clocks[TASKS_PAUSED]));
    json_set(object, "waiting_ns", clocks_ns(site->clocks[TASKS_WAITING]));
    json_set(object, "ready_ns", clocks_ns(site->clocks[TASKS_READY]));
    json_set(object, "unknown_ns", clocks_ns(site->clocks[TASKS_UNKNOWN]));
    json_set(object, "longest_run_ns", clocks_ns(site->longest_run));
    return object;
}

static json_t *sites_json(const struct tasks *tasks)
{
    struct tasks_sites sites = {0};
    json_t *all = json_array();

    tasks_sites_add(&sites, tasks);
    for (uint32_t i = 0; i < tasks_sites_count(&sites); ++i)
        json_array_append_new(all, site_json(tasks, &sites.sites[i]));
    tasks_sites_free(&sites);
    return all;
}

/* Numbers of objects are the guest's. */
static json_t *open_json(const struct tasks *tasks)
{
    uint32_t count, at = 0;
    struct tasks_wait *waits = tasks_waits(tasks, &count);
    bool *waited_for = tasks_waited_for(tasks, waits, count);
    json_t *all = json_array();
    char title[TASKS_TEXT_MAX];

    for (uint32_t i = TASKS_SPECIAL; i < tasks_objects(tasks); ++i) {
        const struct tasks_object *about = &tasks->objects[i];
        json_t *object, *others;

        if (!tasks_is_open(tasks, i))
            continue;
        object = json_object();
        others = json_array();
        json_set(object, "object", json_count(about->id));
        json_set(object, "title", json_text(tasks_title(tasks, i, title)));
        json_set(object, "state", json_text(tasks_state_word(about->state)));
        json_set(object, "ns",
                 clocks_ns(tasks->end - tasks_standing_since(tasks, i)));
        json_set(object, "age_ns",
                 clocks_ns(tasks->end > about->begin ? tasks->end - about->begin
                                                     : 0));
        json_set(object, "rests",
                 json_boolean(tasks_rests(tasks, i, waited_for)));
        for (; at < count && waits[at].object <= i; ++at) {
            if (waits[at].object == i)
                json_array_append_new(
                    others, json_count(tasks->objects[waits[at].other].id));
        }
        json_set(object, "waits_for", others);
        json_array_append_new(all, object);
    }
    free(waits);
    free(waited_for);
    return all;
}

static json_t *delays_json(const struct tasks_delays *delays)
{
    json_t *object = json_object();

    json_set(object, "count", json_count(delays->count));
    json_set(object, "ns", clocks_ns(delays->sum));
    if (delays->count > 0) {
        json_set(object, "p50_ns", clocks_ns(tasks_delay_at(delays, 500)));
        json_set(object, "p99_ns", clocks_ns(tasks_delay_at(delays, 990)));
        json_set(object, "longest_ns", clocks_ns(tasks_delay_at(delays, 1000)));
    }
    return object;
}

static json_t *interrupts_json(const struct tasks *tasks)
{
    struct tasks_vectors vectors;
    struct tasks_vector_sum *sums;
    json_t *all = json_array();

    tasks_find_vectors(&vectors, tasks, TASKS_ANY_CPU);
    sums = tasks_sum_vectors(tasks, &vectors);
    for (uint32_t i = 0; i < vectors.count; ++i) {
        json_t *object = json_object();

        json_set(object, "vector", json_count(vectors.all[i]));
        json_set(object, "count", json_count(sums[i].irqs));
        json_set(object, "woke", json_count(sums[i].woke));
        json_set(object, "left", json_count(sums[i].left));
        json_set(object, "handled", delays_json(&sums[i].handled));
        json_set(object, "ran_after", delays_json(&sums[i].ran));
        json_array_append_new(all, object);
    }
    tasks_free_vector_sums(sums, &vectors);
    return all;
}

static void print_tasks_json(const struct tasks *tasks)
{
    json_t *all = json_object();
    char missing[TASKS_TEXT_MAX];

    json_set(all, "events", json_count(tasks->events));
    json_set(all, "objects", json_count(tasks_real_objects(tasks)));
    json_set(all, "losses", json_count(tasks->loss_count));
    tasks_missing_text(tasks, missing);
    json_set(all, "missing", json_text(missing));
    json_set(all, "ns", clocks_ns(tasks->end - tasks->begin));
    json_set(all, "idle_ns",
             clocks_ns(tasks->objects[TASKS_LOOP].clocks[TASKS_WAITING]));
    json_set(all, "sites", sites_json(tasks));
    json_set(all, "open", open_json(tasks));
    json_set(all, "interrupts", interrupts_json(tasks));
    json_print(all, stdout);
}

/* ---- the command */

static const char help_text[] =
    "Show what the tasks and promises of a trace did, by the site that created "
    "them, and which of them still wait for which in the end, and since "
    "when. Mutexes, mailboxes, callbacks and the like that nothing waits for "
    "are only counted there. --interrupts shows by vector how many interrupts "
    "there were, in how many us they were handled, how many woke the idle "
    "event loop, how many left work to a callback or task, and how long after "
    "the interrupt that was begun."
    "\vFor example:\n"
    "  parasite tasks x.trace\n"
    "  parasite tasks -s running --rows 5 x.trace\n"
    "  parasite tasks --interrupts x.trace\n"
    "  parasite tasks --json x.trace | jq '.sites[].waiting_ns'";

static void set_order(char *word)
{
    static const char *const words[] = {"waiting", "ready", "running", "count"};

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; ++i) {
        if (strcmp(words[i], word) == 0) {
            request.order = (enum tasks_order)i;
            return;
        }
    }
    die_usage("-s takes waiting, ready, running or count, not '%s'", word);
}

static void set_rows(char *word)
{
    request.rows = arguments_rows(word);
}

static const struct argument options[] = {
    {"sort", 's', "KEY", "waiting (default), ready, running or count",
     .take = set_order},
    {"rows", 0, "N", "rows of a table (40; 0 = all)", .take = set_rows},
    {"all", 'a', NULL, "list what rests as well", .flag = &request.all},
    {"interrupts", 0, NULL, "show the interrupts instead, by vector",
     .flag = &request.interrupts},
    {"json", 'j', NULL, "print JSON, with all rows", .flag = &request.json},
    {"quiet", 'q', NULL, "no messages except errors, and no headers",
     .flag = &log_quiet},
    {0},
};

static const struct command_line line = {options, "[TRACE]", help_text,
                                         .trace = &request.input};

int command_tasks(int argc, char **argv)
{
    struct trace trace;
    struct tasks tasks = {0};

    arguments_parse(&line, argc, argv);
    trace_open(&trace, request.input);
    tasks_read(&tasks, &trace);
    if (tasks.events == 0)
        die("%s: there are no tasks; the guest records them with "
            "prof.trace=stream",
            request.input);
    pager_start();
    if (request.json)
        print_tasks_json(&tasks);
    else
        print_tasks(&tasks);
    tasks_free(&tasks);
    trace_close(&trace);
    return STATUS_OK;
}
