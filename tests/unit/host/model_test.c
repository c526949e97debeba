/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream adds up to, also with a packet missing; and the packets of
 * several CPUs, in the model and in order in an index. */

#include "../unit.h"

#include "event_script.h"
#include "trace/model.h"

#define STEP 10000u /* clocks between two events: 1 kHz */

static struct made *made;
static struct model model;

static void begin_model(void)
{
    made = calloc(1, sizeof *made);
    made->packet_room = 4096;
    made_hello(made, 64);
    made_start(made, 1000000, 64);
    model = (struct model){0};
}

static void end_model(void)
{
    model_free(&model);
    free(made->bytes);
    free(made);
}

/* Packet (index), which is a good one. */
static struct packet packet_of(unsigned index)
{
    size_t bytes;
    const uint8_t *at = made_packet(made, index, &bytes);
    struct packet packet;

    assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
    return packet;
}

/* Gives all packets but the one numbered (lost) to the model. */
static void feed_without(unsigned lost)
{
    made_flush(made);
    for (unsigned i = 0; i < made->sequence; ++i) {
        struct packet packet = packet_of(i);

        if (i != lost)
            model_take(&model, &packet);
    }
}

static void feed(void)
{
    feed_without(UINT32_MAX);
}

static char text[4096];

static void say_number(const char *name, uint64_t number)
{
    if (number != 0)
        sprintf(text + strlen(text), "%s %llu; ", name,
                (unsigned long long)number);
}

/* "1000<2000 2 in 20000": a stack, its samples and their clocks. Returns its
 * outermost node. */
static uint32_t say_cell(const struct model_cell *cell)
{
    static const char *const pseudos[MODEL_PSEUDOS] = {
        "[empty]", "[idle]", "[dropped]", "[overflow]", "[undefined]"};
    uint32_t stack[8];
    size_t count = model_stack(&model, cell->node, stack, COUNT(stack));

    for (size_t i = 0; i < count; ++i) {
        strcat(text, i > 0 ? "<" : "");
        if (stack[i] < MODEL_PSEUDOS)
            strcat(text, pseudos[stack[i]]);
        else
            sprintf(text + strlen(text), "%llx",
                    (unsigned long long)model.nodes[stack[i]].address);
    }
    if (cell->task != 0)
        sprintf(text + strlen(text), " of task %u", cell->task);
    sprintf(text + strlen(text), " %llu in %llu; ",
            (unsigned long long)cell->count.samples,
            (unsigned long long)cell->count.clocks);
    return stack[count - 1];
}

/* All that there is; the counts of a kind are the sums of its cells. */
static const char *said(void)
{
    const struct model_count *const kinds[MODEL_PSEUDOS] = {
        &model.stacks, &model.idle, &model.dropped, &model.overflowed,
        &model.stacks};
    struct model_count sums[MODEL_PSEUDOS] = {0};

    text[0] = '\0';
    for (uint32_t i = 0; i < model_cells(&model); ++i) {
        uint32_t kind = say_cell(&model.cells[i]);

        kind = kind == MODEL_UNDEFINED || kind >= MODEL_PSEUDOS ? MODEL_EMPTY
                                                                : kind;
        model_count_add(&sums[kind], &model.cells[i].count);
    }
    for (unsigned i = 0; i < MODEL_UNDEFINED; ++i)
        assert_memory_equal(&sums[i], kinds[i], sizeof sums[i]);
    say_number("in all", model_clocks(&model));
    say_number("missed", model.missed_ticks);
    say_number("stolen", model.stolen_clocks);
    say_number("lost", model_lost(&model));
    say_number("outside", model.stopped_walks[PROF_WALK_OUTSIDE]);
    say_number("missing", model.missing_packets);
    say_number("unread", model.unread_packets);
    if (model.ended)
        sprintf(text + strlen(text), "ended %u; ", model.code);
    return text;
}

/* A hundred samples. */
#define SAMPLES_10                                                             \
    "sample 1; sample 1; sample 1; sample 1; sample 1;"                        \
    "sample 1; sample 1; sample 1; sample 1; sample 1;"
#define SAMPLES_20 SAMPLES_10 SAMPLES_10
#define SAMPLES_100 SAMPLES_20 SAMPLES_20 SAMPLES_20 SAMPLES_20 SAMPLES_20

#define ALL UINT32_MAX

static const struct {
    const char *name;
    const char *script;
    uint32_t without; /* the packet with that number, or ALL */
    const char *says;
} rows[] = {
    {"samples stand for the time before them",
     "node 1 0 0x1000; node 2 1 0x2000; step 10000; sample 2; idle;"
     "step 50000; sample 2",
     ALL, "2000<1000 2 in 60000; [idle] 1 in 10000; in all 70000; "},
    {"whole clocks carry over long silence",
     "node 1 0 0x1000; step 2684354560; clock 2684354560; step 10000; sample 1",
     ALL, "1000 1 in 2684364560; in all 2684364560; "},
    {"a leaf is a node and a sample",
     "node 1 0 0x100010; step 10000; leaf 2 1 0x40fffff; sample 2;"
     "step 65536; sample 2",
     ALL, "40fffff<100010 3 in 85536; in all 85536; "},
    {"overflows and drops carry their own time",
     "step 10000; overflow 0x3000 7 70000; drop 5 50000; miss 9; stolen 4000;"
     "stopped_walk 4 3; bye 4",
     ALL,
     "3000<[overflow] 7 in 70000; [dropped] 5 in 50000; in all 120000; "
     "missed 9; stolen 4000; lost 5; outside 3; ended 4; "},
    /* Sums of what a damaged stream says are large, not small. */
    {"sums beyond 64 bits stay the largest",
     "step 10000; overflow 0x3000 7 0xfffffffffffffff6; drop 5 50000;"
     "stolen 0xfffffffffffffff6; overflow 0x3000 7 0xfffffffffffffff6;"
     "drop 5 50000; stolen 0xfffffffffffffff6; bye 0",
     ALL,
     "3000<[overflow] 14 in 18446744073709551615; [dropped] 10 in 100000; "
     "in all 18446744073709551615; stolen 18446744073709551615; lost 10; "
     "ended 0; "},
    /* It is part of one sample's time, and what was lost is not guessed. */
    {"stolen time is no samples",
     "node 1 0 0x1000; step 500000; stolen 490000; step 0; sample 1;"
     "step 10000; idle; step 200000; stolen 900000; step 0; idle; stolen 10000;"
     "start 1000000 64; step 10000; sample 1",
     ALL, "1000 2 in 20000; [idle] 2 in 10000; in all 30000; stolen 1400000; "},
    {"tasks are distinguished",
     "task 3 0x7777; node 1 0 0x1000; step 10000; sample 1; switch 3;"
     "sample 1; sample 1",
     ALL, "1000 1 in 10000; 1000 of task 1 2 in 30000; in all 40000; "},
    /* nodes, samples, and the same nodes once more */
    {"a lost definition comes again",
     "node 70000 0 0x100001000; flush; node 1 70000 0x2000; step 10000;"
     "sample 1; flush; node 70000 0 0x100001000",
     0, "2000<100001000 1 in 0; "},
    {"what stays unknown is shown as such",
     "node 2 1 0x2000; step 10000; sample 2; sample 9", ALL,
     "2000<[undefined] 1 in 10000; [undefined] 1 in 10000; in all 20000; "},
    {"behind a gap a sample is one period",
     "node 1 0 0x1000; flush; step 10000;" SAMPLES_100
     "flush; sample 1; sample 1",
     1, "1000 2 in 20000; in all 20000; missing 1; "},
};

TEST(a_stream_adds_up)
{
    for (size_t i = 0; i < COUNT(rows); ++i) {
        begin_model();
        made_script(made, "%s", rows[i].script);
        feed_without(rows[i].without);
        if (strcmp(said(), rows[i].says) != 0)
            fail_msg("%s:\n%s", rows[i].name, text);
        end_model();
    }
}

FIXTURE(begin_model, end_model);

TEST(the_head_is_kept)
{
    made_script(made, "task 3 0x7777; switch 3; sample 1");
    made->discarded = 11;
    feed();
    assert_int_equal(model.hello.build_id_bytes, 20);
    assert_int_equal(model.rate_mhz, 1000000);
    assert_int_equal(model_lost(&model), 11);
    assert_int_equal(model.tasks[1].function, 0x7777);
    assert_int_equal(model.tasks[1].object, 3);
}

TEST(lost_samples_are_at_most_the_largest_number)
{
    made_script(made, "drop 5 50000");
    made->discarded = UINT64_MAX - 2;
    feed();
    assert_true(model_lost(&model) == UINT64_MAX);
}

/* Packets of a format that is not ours are counted, and not misread. */
TEST(another_version_is_not_read)
{
    made_leaf(made, 2, 0, MADE_TEXT);
    made_flush(made);
    made->bytes[offsetof(struct prof_packet, version)] += 1;
    made_seal(made->bytes, made->count);
    feed();
    assert_string_equal(said(), "unread 1; ");
    assert_int_equal(model.hello.version, PROF_FORMAT_VERSION + 1);
}

/* The events of an unknown kind, and cut ones, end their packet only. */
TEST(what_is_not_understood_ends_the_packet)
{
    static const uint8_t wrong[][2] = {
        {0, 1}, {1, 8}, {2, 6}, {3, 3}, {3, 4}, {3 | 4 << 2, 7}, {255, 60}};

    made_flush(made);
    for (size_t i = 0; i < COUNT(wrong); ++i) {
        made_sample(made, 1);
        made->packet[made->used] = wrong[i][0];
        memset(made->packet + made->used + 1, 0, 80);
        made->used += wrong[i][1];
        made_flush(made);
    }
    feed();
    assert_int_equal(model.unread_packets, COUNT(wrong));
    assert_int_equal(model.stacks.samples, COUNT(wrong));
}

TEST(a_period_that_does_not_vary_is_noticed)
{
    for (unsigned spread = 0; spread < 2; ++spread) {
        end_model();
        begin_model();
        made_node(made, 1, 0, 0x1000);
        for (unsigned i = 0; i < 100; ++i) {
            made->step = STEP + spread * (i % 10 * STEP / 10) -
                         spread * STEP / 2 + i % 7;
            made_sample(made, 1);
        }
        feed();
        assert_int_equal(model_is_steady(&model), spread == 0);
    }
}

/* Whatever address it is, and whatever numbers the guest's nodes have. */
TEST(an_overflow_is_a_node_of_its_own)
{
    static const uint64_t addresses[] = {
        0x8000000000000000u, 0x8000000000000001u, 0x8000000000000002u,
        0xc000000000000000u, 0xc000000000000001u, 0xc000000000000004u,
        0x0000000000000001u, 0xffffffff80001000u, 0x7fffffff80001000u};
    const uint32_t count = COUNT(addresses);

    made_script(made, "node 1 0 0x1000; node 2 1 0x2000; sample 2");
    for (uint32_t i = 0; i < count; ++i)
        made_script(made, "overflow %llu 3 3000",
                    (unsigned long long)addresses[i]);
    feed();
    assert_int_equal(model_nodes(&model), MODEL_PSEUDOS + 2 + count);
    assert_int_equal(model_cells(&model), 1 + count);
    for (uint32_t i = 0; i < count; ++i) {
        const struct model_cell *cell = &model.cells[1 + i];

        assert_true(model.nodes[cell->node].address == addresses[i]);
        assert_int_equal(cell->count.samples, 3);
        assert_int_equal(model.nodes[cell->node].parent, MODEL_OVERFLOW);
    }
    for (size_t i = 0; i < MODEL_PSEUDOS; ++i)
        assert_int_equal(model.nodes[i].address, 0);
}

TEST(a_circle_of_nodes_ends)
{
    uint32_t stack[100];

    made_script(made, "node 1 2 0x1000; node 2 1 0x2000; sample 1");
    feed();
    assert_int_equal(model_stack(&model, model.cells[0].node, stack, 100), 100);
}

TEST(a_span_of_time_can_be_chosen)
{
    model.from = 10 * STEP;
    model.to = 20 * STEP;
    made_script(made, "node 1 0 0x1000; step 10000;" SAMPLES_100);
    feed();
    assert_string_equal(said(), "1000 10 in 100000; in all 100000; ");
}

/* ---- several CPUs */

/* From now on (made) speaks for (cpu), whose time is (time). */
static void speak_for(uint16_t cpu, uint64_t time)
{
    made_flush(made);
    made->cpu = cpu;
    made->time = time;
}

/* Each second for two CPUs: task (cpu + 1) from the first on, ten samples at 1
 * kHz on CPU 0, five at 500 Hz on CPU 1. Packet 2 * second + cpu + 1. */
static void make_two_cpus(unsigned seconds)
{
    made_node(made, 1, 0, MADE_TEXT);
    for (unsigned second = 0; second < seconds; ++second)
        for (uint16_t cpu = 0; cpu < 2; ++cpu) {
            speak_for(cpu, second * (uint64_t)PROF_CLOCK_HZ);
            made->step = 0;
            if (second == 0)
                made_word(made, PROF_EVENT_SWITCH_WIDE, cpu + 1u);
            made_start(made, 1000000, 64);
            made->step = (cpu + 1u) * STEP;
            for (unsigned i = 0; i < 10u / (cpu + 1u); ++i)
                made_sample(made, 1);
            made->discarded = (second + 1) * (cpu + 1u);
        }
    made_flush(made);
}

static const struct model_cell *cell_of_cpu(uint32_t cpu)
{
    for (uint32_t i = 0; i < model_cells(&model); ++i)
        if (model.cells[i].cpu == cpu)
            return &model.cells[i];
    return NULL;
}

TEST(each_cpu_has_its_own_task_and_time)
{
    make_two_cpus(3);
    feed();
    assert_int_equal(model_cells(&model), 2);
    for (uint32_t cpu = 0; cpu < 2; ++cpu) {
        const struct model_cell *cell = cell_of_cpu(cpu);

        assert_int_equal(cell->task, cpu + 1);
        assert_int_equal(cell->count.samples, 3 * (cpu == 0 ? 10 : 5));
        assert_int_equal(cell->count.clocks, 3 * 10 * STEP);
    }
    assert_int_equal(model.missing_packets, 0);
    assert_int_equal(model.discarded, 3 + 3 * 2);
}

/* Packets without a START: the time covered by the sample after a gap shows
 * which CPU the gap was on. */
TEST(a_loss_is_its_cpus_own)
{
    for (unsigned lost = 0; lost < 4; ++lost) {
        end_model();
        begin_model();
        made_node(made, 1, 0, MADE_TEXT);
        for (unsigned round = 1; round <= 4; ++round)
            for (uint16_t cpu = 0; cpu < 2; ++cpu) {
                speak_for(cpu, round * 20 * STEP);
                made->step = 0;
                made_sample(made, 1);
            }
        feed_without(3 + lost); /* of round 2 or 3 */
        assert_int_equal(model.missing_packets, 1);
        assert_int_equal(cell_of_cpu(lost % 2)->count.samples, 3);
        assert_int_equal(cell_of_cpu(1 - lost % 2)->count.samples, 4);
        assert_true(cell_of_cpu(lost % 2)->count.clocks <=
                    20 * STEP + 20 * STEP + STEP);
        assert_true(cell_of_cpu(1 - lost % 2)->count.clocks >= 3 * 20 * STEP);
    }
}

/* Rounds of both CPUs, one sample each; CPU 1 has interrupts off in the first
 * and the third, and is halted in the fourth. Packet 2 * round + cpu + 1. */
static void make_marked(void)
{
    made_node(made, 1, 0, MADE_TEXT);
    for (unsigned round = 0; round < 4; ++round)
        for (uint16_t cpu = 0; cpu < 2; ++cpu) {
            speak_for(cpu, (round + 1) * STEP);
            made->step = 0;
            if (cpu == 1 && round % 2 == 0)
                made_bare(made,
                          round == 0 ? PROF_EVENT_IRQS_OFF : PROF_EVENT_MASKED);
            if (cpu == 1 && round == 3)
                made_bare(made, PROF_EVENT_IDLE);
            else
                made_sample(made, 1);
        }
    made_word(made, PROF_EVENT_MISS, 7);
    MADE_EVENT(made, PROF_EVENT_CPU, (struct prof_event_cpu){1, -5, 6});
    MADE_EVENT(made, PROF_EVENT_NMI, (struct prof_event_nmi){3, 4});
    MADE_EVENT(made, PROF_EVENT_NMI, (struct prof_event_nmi){8, 9});
}

TEST(each_cpu_is_counted)
{
    const struct model_cpu *cpu;

    make_marked();
    feed();
    assert_int_equal(model_sampled_cpus(&model), 2);
    cpu = model_cpu(&model, 0);
    assert_int_equal(cpu->busy.samples, 4);
    assert_int_equal(cpu->off.samples, 0);
    assert_false(cpu->has_clock);
    cpu = model_cpu(&model, 1);
    assert_int_equal(cpu->busy.samples, 3);
    assert_int_equal(cpu->idle.samples, 1);
    assert_int_equal(cpu->off.samples, 2);
    assert_int_equal(cpu->off.clocks, 2 * STEP);
    assert_int_equal(cpu->missed, 7);
    assert_true(cpu->clock.number == 1 && cpu->clock.offset == -5 &&
                cpu->clock.error == 6);
    assert_int_equal(cpu->nmi.duplicates, 8);
    assert_int_equal(cpu->nmi.merged, 9);
}

/* Their events have totals, of which those before the span are not its own; and
 * one that has begun again is no difference. */
TEST(nmis_are_those_of_the_span)
{
    static const struct {
        uint64_t time;
        struct prof_event_nmi nmi;
    } totals[] = {{5 * STEP, {3, 4}},
                  {15 * STEP, {8, 24}},
                  {16 * STEP, {9, 1}},
                  {25 * STEP, {100, 100}}};
    const struct model_cpu *cpu;

    model.from = 10 * STEP;
    model.to = 20 * STEP;
    made->step = 0;
    for (size_t i = 0; i < sizeof totals / sizeof *totals; ++i) {
        speak_for(1, totals[i].time);
        MADE_EVENT(made, PROF_EVENT_NMI, totals[i].nmi);
    }
    feed();
    cpu = model_cpu(&model, 1);
    assert_true(cpu->has_nmis);
    assert_int_equal(cpu->nmi.duplicates, 6);
    assert_int_equal(cpu->nmi.merged, 21);
}

/* Makes the samples with interrupts off worth 1000 clocks, and no others. */
static bool weigh_off(void *owner, const struct event *event, uint32_t node,
                      const struct model_cpu *cpu, struct model_count *count)
{
    unsigned *asked = owner;

    (void)event;
    (void)node;
    assert_int_equal(cpu->weighed, asked[cpu->cpu]);
    ++asked[cpu->cpu];
    count->clocks = 1000;
    return cpu->irqs_off;
}

TEST(a_weigher_says_what_counts_in_cells)
{
    struct model again = {0};
    unsigned asked[2] = {0};

    make_marked();
    feed();
    again.weigher = (struct model_weigher){weigh_off, asked};
    for (unsigned i = 0; i < made->sequence; ++i) {
        struct packet packet = packet_of(i);

        model_take(&again, &packet);
    }
    assert_true(asked[0] == 4 && asked[1] == 4);
    assert_int_equal(again.stacks.samples, 7);
    assert_int_equal(model_cells(&again), 1);
    model_swap_cells(&model, &again);
    assert_int_equal(model_cells(&again), 3);
    assert_int_equal(model_cells(&model), 1);
    assert_int_equal(cell_of_cpu(1)->count.samples, 2);
    assert_int_equal(cell_of_cpu(1)->count.clocks, 2000);
    model_free(&again);
}

/* The mark is of the next sample: where that is lost it is of none. */
TEST(a_mark_does_not_pass_a_gap)
{
    made_node(made, 1, 0, MADE_TEXT);
    made->step = STEP;
    made_sample(made, 1);
    made_flush(made);
    made_sample(made, 1);
    made_bare(made, PROF_EVENT_IRQS_OFF);
    made_flush(made);
    made_sample(made, 1);
    made_flush(made);
    made_sample(made, 1);
    feed_without(2);
    assert_int_equal(model.missing_packets, 1);
    assert_int_equal(model_cpu(&model, 0)->off.samples, 0);
    assert_int_equal(model_cpu(&model, 0)->gaps, 1);
}

TEST(a_packet_index_separates_cpus)
{
    struct packet_index index = {0};

    make_two_cpus(3);
    for (unsigned i = made->sequence; i-- > 0;) {
        struct packet packet = packet_of(i);

        assert_true(i == 4 || packet_index_add(&index, &packet, i));
    }
    packet_index_sort(&index);
    assert_int_equal(index.repeated, 0);
    assert_int_equal(packet_index_missing(&index), 1);
    for (size_t i = 1; i < index.count; ++i)
        assert_true(index.packets[i].begin >= index.packets[i - 1].begin);
    packet_index_free(&index);
}

TEST(an_index_holds_each_packet_once_and_in_order)
{
    static const unsigned order[] = {2, 0, 2, 4, 0};
    struct packet_index index = {0};

    made->step = STEP;
    for (int i = 0; i < 5; ++i) {
        made_bare(made, PROF_EVENT_IDLE);
        made_flush(made);
    }
    for (size_t i = 0; i < COUNT(order); ++i) {
        struct packet packet = packet_of(order[i]);

        assert_int_equal(packet_index_add(&index, &packet, i),
                         i == 0 || order[i] == 4 || i == 1);
    }
    packet_index_sort(&index);
    assert_int_equal(index.count, 3);
    assert_int_equal(index.repeated, 2);
    assert_int_equal(packet_index_missing(&index), 2);
    for (size_t i = 0; i < 3; ++i)
        assert_int_equal(index.packets[i].sequence, 2 * i);
    packet_index_free(&index);
}
