/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of several CPUs: in the model, and in order in an index. */

#include "../unit.h"

#include "model_feeder.h"

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

FIXTURE(begin_model, end_model);

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
