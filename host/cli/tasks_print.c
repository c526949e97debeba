/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of tasks, as text. */

#include "cli/tasks_print.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"

#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sites */

static enum tasks_order sort_order;

static uint64_t weight(const struct tasks_site *site)
{
    switch (sort_order) {
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

static double ms(uint64_t clocks)
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
           ms(site->clocks[TASKS_WAITING] + site->clocks[TASKS_PENDING]),
           ms(site->clocks[TASKS_READY]), ms(site->clocks[TASKS_RUNNING]),
           ms(site->longest_run), tasks_kind_word(site->kind));
    printable_put(stdout, *name != '\0' ? name : "[site unknown]");
    if (*file != '\0') {
        fputs(" (", stdout);
        printable_put(stdout, file);
        printf(":%u)", (unsigned)guest_names_line(&tasks->names, site->name));
    }
    putchar('\n');
}

static void print_sites(const struct tasks *tasks, enum tasks_order order,
                        unsigned long rows)
{
    struct tasks_sites sites = {0};
    uint32_t count;

    tasks_sites_add(&sites, tasks);
    count = tasks_sites_count(&sites);
    sort_order = order;
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

/* The first of the waits of (object). */
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
           ms(tasks->end - tasks_standing_since(tasks, number)));
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
static void print_forest(struct forest *forest, bool all)
{
    const struct tasks *tasks = forest->tasks;

    for (unsigned pass = 0; pass < 2; ++pass) {
        for (uint32_t i = 0; i < tasks_objects(tasks); ++i) {
            bool is_root =
                !forest->printed[i] && (pass == 1 || !forest->waited_for[i]);

            if (tasks_is_open(tasks, i) && is_root &&
                (all || !tasks_rests(tasks, i, forest->waited_for)))
                print_tree(forest, i, 0);
        }
    }
}

static void print_waits(const struct tasks *tasks,
                        const struct tasks_wanted *wanted)
{
    struct forest forest = {.tasks = tasks,
                            .left = wanted->rows > 0 ? wanted->rows : -1ul};
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
    print_forest(&forest, wanted->all);
    if (!log_quiet && rest > 0 && !wanted->all)
        printf("# and %u that rest, nothing waits for them: --all lists "
               "them\n",
               (unsigned)rest);
    free(forest.waits);
    free(forest.waited_for);
    free(forest.printed);
}

void tasks_print(const struct tasks *tasks, const struct tasks_wanted *wanted)
{
    char text[TASKS_TEXT_MAX];

    print_sites(tasks, wanted->order, wanted->rows);
    print_waits(tasks, wanted);
    if (tasks_missing_text(tasks, text))
        printf("# %s: what is unknown there is in no column\n", text);
}
