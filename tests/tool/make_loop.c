/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_loop SECONDS SEED [WRONG [ADDRESSES]]: writes a stream with a round of
 * loop occupancy for each second to stdout. Sites call each other as in the
 * tree below; how long they run is random. There are a long run and a freeze.
 * Nothing in it is wrong but, in the last round, what WRONG says: one of the
 * words in put_wrong() and put_wrong_event(). ADDRESSES is a file of addresses
 * in the image's code.
 *
 * In the end it writes to stderr what is in the last round, as JSON:
 * wall_cycles, idle_cycles, and {site: [calls, own, total, longest]}, times in
 * cycles.
 */

#include "../unit/host/loop_maker.h"
#include "made_tree.h"

#define HZ 2000000000ull /* as made_hello() says */

enum { LOOP, IDLE, PROFILER, SERVE, HANDLE, QUERY, TIMER, STUCK, SITES };

static const struct {
    const char *text;
    uint8_t kind;
} sites[SITES] = {
    [LOOP] = {"event loop", 3},
    [IDLE] = {"idle", 5},
    [PROFILER] = {"profiler", 4},
    [SERVE] = {"serve@services/made/serve.c", 0},
    [HANDLE] = {"handle@services/made/serve.c", 0},
    [QUERY] = {"query@services/made/query.c", 0},
    [TIMER] = {"timer@kernel/loop.c", 1},
    [STUCK] = {"stuck@services/made/stuck.c", 0},
};

/* The tree: a query calls others, and is then below itself. */
static const struct {
    uint16_t parent, site;
    uint32_t share; /* of a second, at most, in 1/1000 */
} nodes[] = {
    {0, LOOP, 10},    {1, IDLE, 0},    {2, PROFILER, 5}, {3, SERVE, 20},
    {3, HANDLE, 200}, {4, QUERY, 100}, {5, QUERY, 50},   {7, TIMER, 30},
    {4, HANDLE, 20},  {9, STUCK, 40},  {7, QUERY, 10},
};
#define NODE_COUNT (sizeof nodes / sizeof *nodes)

static struct made made = {.packet_room = PROF_PACKET_DEFAULT};
static uint64_t own[NODE_COUNT], calls[NODE_COUNT];
static struct prof_event_loop account;
static struct prof_event_loop_row rows[SITES];
static uint32_t buckets[SITES][32]; /* of runs, from 2^20 cycles on */

static bool is_below(unsigned node, unsigned site)
{
    while (nodes[node].site != site && nodes[node].parent != node)
        node = nodes[node].parent;
    return nodes[node].site == site;
}

/* One more second. */
static void work(void)
{
    uint64_t left = HZ;

    for (unsigned i = 0; i < NODE_COUNT; ++i) {
        unsigned site = nodes[i].site;
        uint64_t ran = nodes[i].share * (HZ / 1000) * (chance() % 1000) / 1000;

        if (site == IDLE)
            continue;
        own[i] += ran;
        left -= ran;
        ++calls[i];
        ++rows[site].calls;
        ++rows[site].runs;
        ++buckets[site][ran >> 22 & 31];
        if (ran > rows[site].longest)
            rows[site].longest = ran;
    }
    own[1] += left * 9 / 10;
    account.interrupts += left - left * 9 / 10 - 1000;
    account.sampler += 1000;
    account.wall += HZ;
}

/* Site by site, from the tree. */
static void add_up(void)
{
    uint64_t parts[6] = {0}; /* by kind */

    for (unsigned site = 0; site < SITES; ++site) {
        rows[site].site = (uint16_t)site;
        rows[site].own = rows[site].total = 0;
        for (unsigned i = 0; i < NODE_COUNT; ++i) {
            if (nodes[i].site == site)
                rows[site].own += own[i];
            if (is_below(i, site))
                rows[site].total += own[i];
        }
        parts[sites[site].kind] += rows[site].own;
        rows[site].run_p50 = rows[site].longest / 2;
        rows[site].delays = rows[site].runs;
        rows[site].delay = 1000 * rows[site].runs;
    }
    account.tasks = parts[0];
    account.callbacks = parts[1];
    account.itself = parts[3];
    account.profiler = parts[4];
    account.idle = parts[5];
    rows[STUCK].pending = 1;
    rows[STUCK].oldest = account.wall;
    rows[QUERY].failed = rows[QUERY].calls / 3;
}

static uint64_t total_of(unsigned node)
{
    uint64_t sum = own[node];

    for (unsigned i = node + 1; i < NODE_COUNT; ++i)
        sum += nodes[i].parent == node ? total_of(i) : 0;
    return sum;
}

static void put_round(void)
{
    made_flush(&made);
    made_loop(&made, account);
    for (uint16_t i = 0; i < SITES; ++i) {
        made_loop_site(&made, i, sites[i].kind, 10u * i, sites[i].text);
        made_loop_row(&made, rows[i]);
        for (unsigned j = 0; j < 32; ++j) {
            if (buckets[i][j] != 0)
                made_loop_bucket(&made, i, 0, (32ull + j) << 22, buckets[i][j]);
        }
    }
    for (uint16_t i = 0; i < NODE_COUNT; ++i)
        made_loop_node(
            &made, (struct prof_event_loop_context){.node = i,
                                                    .parent = nodes[i].parent,
                                                    .site = nodes[i].site,
                                                    .calls = calls[i],
                                                    .own = own[i],
                                                    .total = total_of(i)});
}

/* A task held the loop for 250 ms, which the guard noticed after 100. */
static void put_long_run(void)
{
    struct prof_event_loop_freeze freeze = {.site = HANDLE,
                                            .outer = SERVE,
                                            .task = 17,
                                            .held = HZ / 10,
                                            .address_0 = addresses[0],
                                            .address_1 = addresses[1] + 1};
    struct prof_event_loop_held held = {.site = HANDLE,
                                        .task = 17,
                                        .own = HZ / 4,
                                        .samples = 250,
                                        .function_1 = addresses[0],
                                        .samples_1 = 200,
                                        .function_2 = addresses[1],
                                        .samples_2 = 50};

    MADE_EVENT(&made, PROF_EVENT_LOOP_FREEZE, freeze);
    made.time += PROF_CLOCK_HZ * 15 / 100;
    MADE_EVENT(&made, PROF_EVENT_LOOP_HELD, held);
    ++account.freezes;
}

/* Something that no guest sends. */
static bool put_wrong(const char *what)
{
    if (strcmp(what, "not_wall") == 0)
        ++account.wall;
    else if (strcmp(what, "not_sites") == 0)
        --rows[HANDLE].own;
    else if (strcmp(what, "not_total") == 0)
        ++rows[QUERY].total;
    else
        return strcmp(what, "nothing") == 0 || strncmp(what, "no_", 3) == 0;
    return true;
}

/* The same within a round. */
static void put_wrong_event(const char *what)
{
    if (strcmp(what, "no_place") == 0)
        made_loop_row(&made, (struct prof_event_loop_row){.site = 99});
    else if (strcmp(what, "no_bucket") == 0)
        made_loop_bucket(&made, 1, 0, 67, 1);
    else if (strcmp(what, "no_account") == 0) {
        ++made.time;
        made_loop_row(&made, rows[QUERY]);
    }
}

int main(int argc, char **argv)
{
    unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    const char *wrong = argc > 3 ? argv[3] : "nothing";

    if (argc < 3)
        return 2;
    make_tree((unsigned)atoi(argv[2]), argc > 4 ? argv[4] : NULL);
    made_hello(&made, 64);
    made_start(&made, 1000000, 64);
    for (unsigned second = 1; second <= seconds; ++second) {
        made_flush(&made);
        made.time = (second - 1) * (uint64_t)PROF_CLOCK_HZ + 1000;
        if (second == 2)
            put_long_run();
        made_flush(&made);
        made.time = second * (uint64_t)PROF_CLOCK_HZ;
        work();
        add_up();
        if (second == seconds && !put_wrong(wrong))
            return 2;
        put_round();
        if (second == seconds)
            put_wrong_event(wrong);
    }
    made_flush(&made);
    made.time += 1000;
    made_sample(&made, 0);
    made_flush(&made);
    fwrite(made.bytes, 1, made.count, stdout);
    fprintf(stderr, "{\"wall_cycles\": %llu, \"idle_cycles\": %llu",
            (unsigned long long)account.wall, (unsigned long long)account.idle);
    for (unsigned i = 0; i < SITES; ++i)
        fprintf(stderr, ", \"%.*s\": [%llu, %llu, %llu, %llu]",
                (int)strcspn(sites[i].text, "@"), sites[i].text,
                (unsigned long long)rows[i].calls,
                (unsigned long long)rows[i].own,
                (unsigned long long)rows[i].total,
                (unsigned long long)rows[i].longest);
    fputs("}\n", stderr);
    return 0;
}
