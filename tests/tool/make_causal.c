/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_causal EXPERIMENTS SEED [WORD]: writes a stream with so many experiments
 * of causal profiling to stdout: four targets that run into other limits, or
 * are never called, at four speed-ups, and two points of progress, of which one
 * is passed in every fourth unit of work; latencies become shorter by what is
 * gained. WORD:
 *
 *   late      the first half is in sums only
 *   wrong     there are events of no sense too
 *   full      there was no room for held events, again and again
 *   again     as many experiments before these were of another run, and no
 *             account says so
 *   short     the stream ends 300 ms after the first account
 *   unended   the same, and later than the first experiments
 *   old       what results assume is not in it
 *   far       a target and a point with the greatest numbers, and extreme times
 *   many      8,000 targets and 1,000 points that nobody has reached
 *   wide      names are long, and late requests are hardly later than others
 *
 * In the end it writes to stderr what is true, as JSON: {target: [gain at 25,
 * 50 and 95 %]}. Experiments differ from it by 1 % at random.
 */

#include "../unit/host/causal_maker.h"

#define UNIT_CYCLES 200000u /* for a unit of work, at normal speed */
#define UNITS 200u
#define TARGETS 4u
#define SPEEDUPS 4u
#define GROUPS 16u

static const double speedups[SPEEDUPS] = {0, 0.25, 0.5, 0.95};
static const struct {
    const char *name;
    double share; /* of the time of a unit */
    double most;  /* that it can gain */
    bool samples; /* that is how it is known */
} targets[TARGETS] = {
    {"log(char const*)", 0.2, 0, false},
    {"parse<int>(\"x\", <b>)", 0.4, 0.2, false},
    {"reply", 0.3, 1, true},
    {"unused", 0, 0, false},
};

static struct made made = {.packet_room = PROF_PACKET_DEFAULT, .step = 10};
static struct {
    uint64_t cycles;
    uint32_t experiments;
} sums[TARGETS][SPEEDUPS][GROUPS];
static uint64_t state, refused;
static const char *word = "";

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static double gain(unsigned target, unsigned speedup)
{
    double part = targets[target].share * speedups[speedup];

    return part < targets[target].most ? part : targets[target].most;
}

static bool is(const char *other)
{
    return strcmp(word, other) == 0;
}

static void put_account(uint64_t experiments)
{
    bool unended = is("short") || is("unended");

    MADE_EVENT(&made, PROF_EVENT_CAUSAL,
               (struct prof_event_causal){
                   .run = 1,
                   .running = unended,
                   .speedups = SPEEDUPS,
                   .targets = TARGETS,
                   .points = 2,
                   .experiments = experiments,
                   .abandoned = !unended,
                   .delay = 2000000,
                   .held = 12345,
                   .held_most = 67,
                   .refused = refused,
                   .answers = 1000,
                   .contradictions = 3,
                   .checked = 500,
                   .drained = 2,
                   .stolen = 4000000,
               });
}

static void put_assumed(uint16_t number, const char *text)
{
    struct prof_event_causal_assumed head = {number};

    made_named(&made, PROF_EVENT_CAUSAL_ASSUMED, &head, sizeof head, text);
}

static void put_checked(uint16_t assumption, uint64_t checked,
                        uint64_t contradictions)
{
    struct prof_event_causal_checked fields = {assumption, checked,
                                               contradictions};

    MADE_EVENT(&made, PROF_EVENT_CAUSAL_CHECKED, fields);
}

/* The second of these again, in other words. */
static void put_basis(void)
{
    struct prof_event_causal_learnt learnt = {12000};

    put_checked(0, 100, 0);
    put_checked(1, 300, 1);
    put_checked(1, 390, 3);

    put_assumed(0, "disk: any number of requests at a time");
    put_assumed(1, "network: to be said");
    put_assumed(1, "network: \033 peers wait");
    MADE_EVENT(&made, PROF_EVENT_CAUSAL_LEARNT, learnt);
}

/* What a name begins with. */
static const char *prefix(void)
{
    return is("wide") ? "std::unordered_map<std::string,std::vector<service::"
                        "Connection>,service::Hash,service::Equal>::Bucket::"
                      : "";
}

static void put_target(uint16_t number)
{
    char name[200];

    snprintf(name, sizeof name, "%s%s", prefix(), targets[number].name);
    made_causal_target(&made, number, targets[number].share > 0 ? 1000 : 0,
                       targets[number].samples, name);
}

static void put_point(uint16_t number, uint8_t kind, const char *text)
{
    char name[200];

    snprintf(name, sizeof name, "%s%s", prefix(), text);
    made_causal_point(&made, number, kind, name);
}

static void put_definitions(void)
{
    put_account(0);
    if (!is("old"))
        put_basis();
    for (uint8_t i = 0; i < SPEEDUPS; ++i)
        made_causal_speedup(&made, i, (uint32_t)(speedups[i] * 65536));
    put_point(0, 0, "answered");
    put_point(1, 0, "every fourth");
    put_point(0, 1, "requests");
    for (uint16_t i = 0; i < TARGETS; ++i)
        put_target(i);
}

static void put_experiment(uint32_t number, bool shown)
{
    uint32_t target = draw(TARGETS), speedup = draw(SPEEDUPS);
    double cycles = (double)UNITS * UNIT_CYCLES * (1 - gain(target, speedup)) *
                    (0.99 + draw(2001) / 100000.0);
    double in_target = (double)UNITS * UNIT_CYCLES * targets[target].share;
    uint32_t group =
        sums[target][speedup][0].experiments == 0 ? 0 : draw(GROUPS);

    sums[target][speedup][group].cycles += (uint64_t)cycles;
    ++sums[target][speedup][group].experiments;
    if (!shown)
        return;
    made_causal_visits(&made, 0, UNITS);
    made_causal_visits(&made, 1, UNITS / 4);
    MADE_EVENT(&made, PROF_EVENT_CAUSAL_EXPERIMENT,
               (struct prof_event_causal_experiment){
                   .number = number,
                   .target = (uint16_t)target,
                   .speedup = (uint8_t)speedup,
                   .points = 2,
                   .virtual_time = (uint64_t)cycles,
                   .real_time = (uint64_t)cycles,
                   .in_target = (uint64_t)in_target,
                   .stolen = 2000,
               });
}

static void put_sums_of(unsigned target, unsigned speedup)
{
    for (uint16_t point = 0; point < 2; ++point)
        for (uint8_t group = 0; group < GROUPS; ++group)
            MADE_EVENT(
                &made, PROF_EVENT_CAUSAL_SUM,
                (struct prof_event_causal_sum){
                    .target = (uint16_t)target,
                    .point = point,
                    .speedup = (uint8_t)speedup,
                    .group = group,
                    .virtual_time = sums[target][speedup][group].cycles,
                    .visits = sums[target][speedup][group].experiments * UNITS /
                              (point == 0 ? 1 : 4),
                    .experiments = sums[target][speedup][group].experiments,
                });
}

/* 0.5 and 2 ms, and what is gained of them; "wide": of one target all take
 * nearly the same. */
static void put_latency(uint16_t target, uint8_t speedup)
{
    double part = 1 - gain(target, speedup);
    uint64_t p50 = (uint64_t)(1000000 * part), p99 = 4 * p50;

    if (is("wide") && target == 0)
        p99 = p50 + p50 / 100;
    else if (is("wide") && target == 1)
        p99 = p50 += 3000000;
    MADE_EVENT(&made, PROF_EVENT_CAUSAL_LATENCY,
               (struct prof_event_causal_latency){
                   .target = target,
                   .speedup = speedup,
                   .requests = 1000,
                   .total = 1200 * p50,
                   .p50_low = p50 - 20000,
                   .p50 = p50,
                   .p50_high = p50 + 30000,
                   .p99_low = p99 - 200000,
                   .p99 = p99,
                   .p99_high = p99 + 300000,
               });
}

static void put_limit(uint16_t target, uint8_t speedup)
{
    MADE_EVENT(&made, PROF_EVENT_CAUSAL_LIMIT,
               (struct prof_event_causal_limit){
                   .target = target,
                   .speedup = speedup,
                   .devices = target == 0 ? 700 : 100,
                   .cpu = 300,
                   .in_target = (uint64_t)(targets[target].share * 100000),
                   .real_time = 100000,
               });
}

/* An abandoned experiment, and one whose visits are missing. */
static void put_other_experiments(void)
{
    struct prof_event_causal_experiment other = {.reason = 1, .number = 1};

    MADE_EVENT(&made, PROF_EVENT_CAUSAL_EXPERIMENT, other);
    other.reason = 0;
    other.number = 2;
    other.points = 2;
    made_causal_visits(&made, 0, 99);
    MADE_EVENT(&made, PROF_EVENT_CAUSAL_EXPERIMENT, other);
}

static void put_wrong(void)
{
    made_causal_visits(&made, 60000, 1);
    MADE_EVENT(&made, PROF_EVENT_CAUSAL_SUM,
               (struct prof_event_causal_sum){.group = 16});
    made_causal_speedup(&made, 99, 1);
    made_causal_point(&made, 65535, 0, "far");
    made_causal_point(&made, 65535, 1, "far");
    MADE_EVENT(&made, PROF_EVENT_CAUSAL_LATENCY,
               (struct prof_event_causal_latency){.speedup = 99});
    made_causal_target(&made, 65535, 0, false, "far");
    put_assumed(65535, "far");
    put_checked(65535, 1, 1);
}

static void print_truth(void)
{
    for (unsigned i = 0; i < TARGETS; ++i) {
        fprintf(stderr, i == 0 ? "{" : ", ");
        fputc('"', stderr);
        for (const char *c = targets[i].name; *c != '\0'; ++c)
            fprintf(stderr, *c == '"' ? "\\%c" : "%c", *c);
        fprintf(stderr, "\": [%g, %g, %g]", gain(i, 1), gain(i, 2), gain(i, 3));
    }
    fputs("}\n", stderr);
}

/* Of so many, the first (first) of which are in sums only. */
static void put_experiments(uint32_t count, uint32_t first)
{
    for (uint32_t i = 0; i < count; ++i) {
        put_experiment(i + 3, i >= first);
        if (first != 0 && i == first)
            for (unsigned j = 0; j < TARGETS * SPEEDUPS; ++j)
                put_sums_of(j / SPEEDUPS, j % SPEEDUPS);
    }
}

static void put_far(void)
{
    made_causal_target(&made, 8191, 1, false, "far target");
    made_causal_point(&made, 1023, 0, "far point");
    MADE_EVENT(&made, PROF_EVENT_CAUSAL_LATENCY,
               (struct prof_event_causal_latency){
                   .target = 8191,
                   .requests = 1,
                   .total = UINT64_MAX,
                   .p50 = UINT64_MAX,
                   .p99 = UINT64_MAX,
               });
}

static void put_many(void)
{
    char name[16];

    for (uint16_t i = TARGETS; i < 8000; ++i) {
        snprintf(name, sizeof name, "t%u", i);
        made_causal_target(&made, i, 1, false, name);
    }
    for (uint16_t i = 2; i < 1000; ++i) {
        snprintf(name, sizeof name, "p%u", i);
        made_causal_point(&made, i, 0, name);
        made_causal_point(&made, i, 1, name);
    }
}

static void put_end(uint32_t count)
{
    for (unsigned i = 0; i < (TARGETS - 1) * SPEEDUPS; ++i) {
        put_latency((uint16_t)(i / SPEEDUPS), (uint8_t)(i % SPEEDUPS));
        put_limit((uint16_t)(i / SPEEDUPS), (uint8_t)(i % SPEEDUPS));
    }
    if (is("wrong"))
        put_wrong();
    if (is("far"))
        put_far();
    if (is("many"))
        put_many();
    put_account(count);
}

static void put_run(uint32_t count)
{
    bool ends = !is("again") && !is("short") && !is("unended");

    put_definitions();
    if (ends)
        put_other_experiments();
    if (is("again")) {
        put_experiments(count, 0);
        memset(sums, 0, sizeof sums);
    }
    put_experiments(count, is("late") ? count / 2 : 0);
    if (ends)
        put_end(count);
    else
        made.time += PROF_CLOCK_HZ * 3 / 10 - made.time % 10000;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    state = (uint64_t)atoi(argv[2]);
    if (argc > 3)
        word = argv[3];
    refused = is("full") ? 1000 : 0;
    made_hello(&made, 64);
    made_start(&made, 1000000, 64);
    put_run((uint32_t)atoi(argv[1]));
    made_sample(&made, 0);
    made_flush(&made);
    fwrite(made.bytes, 1, made.count, stdout);
    print_truth();
    return 0;
}
