/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The sources of ticks as far as they need no hardware: what configurations
 * they accept, which rates they keep, and the one that cannot change its rate.
 */

#include "../unit.h"

#include "profiler_world.h"

#include "base/cpu.h"
#include "tick/source.h"

#define HOOK_HZ 250u
#define WORLD_COUNT_CYCLES (WORLD_TSC_HZ / PROF_PIT_HZ)

static const struct prof_config pit = {
    .tsc_hz = WORLD_TSC_HZ,
    .tick = {.kind = PROF_TICK_PIT, .kernel_divisor = 11932, .vector = 32},
};

static const struct prof_config hook = {
    .tsc_hz = WORLD_TSC_HZ,
    .tick = {.kind = PROF_TICK_HOOK, .rate_mhz = HOOK_HZ * 1000},
};

static bool accepts(struct prof_config config)
{
    world_output_bytes = 0;
    return prof_source_open(&config) != NULL;
}

/* Sets the field (name) of (config). */
static void set_field(struct prof_config *config, const char *name,
                      uint64_t value)
{
    if (strcmp(name, "tsc_hz") == 0)
        config->tsc_hz = value;
    else if (strcmp(name, "tick.kernel_divisor") == 0)
        config->tick.kernel_divisor = (uint32_t)value;
    else if (strcmp(name, "tick.vector") == 0)
        config->tick.vector = (uint8_t)value;
    else if (strcmp(name, "tick.rate_mhz") == 0)
        config->tick.rate_mhz = (uint32_t)value;
    else if (strcmp(name, "tick.kind") == 0)
        config->tick.kind = (enum prof_tick_kind)value;
    else
        fail_msg("no field %s", name);
}

/* With (value) in the field (name), what is accepted has no problem, and what
 * is refused has one, of that field. */
static bool takes(struct prof_config config, const char *name, uint64_t value)
{
    struct prof_config_problem problem;
    bool fine;

    set_field(&config, name, value);
    fine = accepts(config);
    if (prof_config_problem(&config, &problem) == fine)
        fail_msg("%s = %llu: accepted %d", name, (unsigned long long)value,
                 fine);
    if (!fine) {
        assert_string_equal(problem.field, name);
        assert_true(problem.given == value);
        assert_true(value < problem.least || value > problem.most);
    }
    return fine;
}

static void expect_range(const struct prof_config *config, const char *name,
                         uint64_t least, uint64_t most)
{
    assert_true(takes(*config, name, least));
    assert_true(takes(*config, name, most));
    if (least > 0)
        assert_false(takes(*config, name, least - 1));
    if (strcmp(name, "tick.vector") != 0)
        assert_false(takes(*config, name, most + 1));
}

FIXTURE(NULL, world_end);

/* The ranges that <prof/prof.h> and <prof/tick.h> state. */
TEST(a_refused_field_is_named_with_its_range)
{
    static const struct prof_config own = {
        .tsc_hz = WORLD_TSC_HZ,
        .tick = {.kind = PROF_TICK_OWN_PIT, .vector = 32},
    };
    struct prof_config slow = hook;
    static _Alignas(16) char memory[PROF_MEMORY_DEFAULT];
    struct prof_config bad = pit;

    expect_range(&pit, "tsc_hz", 1, (1ull << 36) - 1);
    expect_range(&pit, "tick.kernel_divisor", 59, 65536);
    expect_range(&pit, "tick.vector", 32, 255);
    expect_range(&own, "tick.vector", 32, 255);
    slow.tsc_hz = 1000000000;
    expect_range(&slow, "tick.rate_mhz", 1000, 20000000);
    slow.tsc_hz = 5000000000; /* 2^31 cycles last 0.43 s */
    expect_range(&slow, "tick.rate_mhz", 2329, 20000000);
    assert_false(takes(pit, "tick.kind", PROF_TICK_NMI + 1));
    bad.tick.kernel_divisor = 50;
    world_output_bytes = 0;
    prof_control_forget();
    assert_int_equal(prof_init(memory, sizeof memory, &bad), PROF_ECONFIG);
    world_output[world_output_bytes] = '\0';
    assert_string_equal(world_output, "prof: config.tick.kernel_divisor is 50, "
                                      "but must be from 59 to 65536\n");
}

/* Either timer of `auto` may be none of the profiler's. */
TEST(auto_takes_what_the_timers_would)
{
    static const struct {
        uint32_t divisor;
        uint8_t vector, lapic_vector;
        const char *field; /* NULL: there is no problem */
    } rows[] = {
        {11932, 32, 48, NULL},      {0, 32, 0, NULL},
        {0, 0, 48, NULL},           {58, 32, 48, "tick.kernel_divisor"},
        {0, 31, 48, "tick.vector"}, {0, 32, 31, "tick.lapic_vector"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct prof_config config = {
            .tsc_hz = WORLD_TSC_HZ,
            .tick = {.kind = PROF_TICK_AUTO,
                     .kernel_divisor = rows[i].divisor,
                     .vector = rows[i].vector,
                     .lapic_vector = rows[i].lapic_vector},
        };
        struct prof_config_problem problem;

        assert_int_equal(prof_config_problem(&config, &problem),
                         rows[i].field != NULL);
        if (rows[i].field != NULL)
            assert_string_equal(problem.field, rows[i].field);
    }
}

TEST(the_pit_divides_by_whole_numbers_within_bounds)
{
    static const struct {
        uint32_t hz, counts, mhz;
    } rates[] = {
        {1000, 1193, 1000152}, {1, 11932, 99998},
        {99, 11932, 99998},    {10000, 119, 10026739},
        {20000, 60, 19886366}, {UINT32_MAX, 59, 20223423},
        {100, 7954, 150010},   {149, 7954, 150010}, /* room for jitter */
    };
    const struct prof_source *source = prof_source_open(&pit);

    assert_ptr_equal(source, &prof_source_pit);
    assert_ptr_equal(*source->acknowledge, current_eoi_mechanism);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        assert_int_equal(source->set_period(rates[i].hz, false), PROF_OK);
        assert_int_equal(prof_clock.rate_mhz, rates[i].mhz);
        assert_int_equal(prof_clock_of(prof_cpu_here())->divisor,
                         rates[i].counts);
        assert_int_equal(prof_clock_of(prof_cpu_here())->period,
                         (uint64_t)rates[i].counts * WORLD_COUNT_CYCLES
                             << PROF_PERIOD_SHIFT);
    }
}

TEST(the_hook_has_one_rate)
{
    const struct prof_source *source = prof_source_open(&hook);

    assert_ptr_equal(source, &prof_source_hook);
    assert_null(source->acknowledge);
    assert_int_equal(prof_clock.rate_mhz, HOOK_HZ * 1000);
    assert_int_equal(source->set_period(HOOK_HZ, false), PROF_OK);
    assert_int_equal(source->set_period(HOOK_HZ + 1, false), PROF_EFIXED);
    assert_int_equal(source->set_period(HOOK_HZ - 1, true), PROF_EFIXED);
    assert_int_equal(prof_clock.rate_mhz, HOOK_HZ * 1000);
    assert_int_equal(prof_clock_of(prof_cpu_here())->period,
                     (uint64_t)(WORLD_TSC_HZ / HOOK_HZ) << PROF_PERIOD_SHIFT);
}

TEST(the_hook_says_what_has_no_effect)
{
    assert_true(accepts(hook));
    assert_string_equal(world_output,
                        "prof: sampling at the kernel's own 250.000 Hz, "
                        "because it calls prof_sample(); prof.hz and "
                        "prof.jitter have no effect\n");
    assert_int_equal(prof_option("prof.hz=250"), 0);
    assert_int_equal(prof_option("prof.jitter=0"), 0);
    assert_true(accepts(hook));
    assert_int_equal(world_output_bytes, 0);
    assert_int_equal(prof_option("prof.hz=1000"), 0);
    assert_int_equal(prof_option("prof.jitter=50"), 0);
}

/* A reset is a snapshot: the count itself goes on, which the watchdog reads. */
TEST(a_reset_of_missed_ticks_leaves_the_clock_alone)
{
    world_new(PROF_MEMORY_DEFAULT);
    world_tick(0x1000, WORLD_PERIOD);
    world_tick(0x1000, 11 * WORLD_PERIOD);
    prof_drain();
    assert_int_equal(prof_clock_missed(PROF_CPU_FIRST), 9);
    prof_reset();
    assert_int_equal(prof_clock_missed(PROF_CPU_FIRST), 0);
    assert_int_equal(prof_clock_of(prof_cpu_here())->missed, 9);
    prof_clock_of(prof_cpu_here())->missed--; /* made up for after all */
    assert_int_equal(prof_clock_missed(PROF_CPU_FIRST), 0);
}

TEST(ticks_that_cannot_be_acknowledged_do_not_begin)
{
    static _Alignas(16) char memory[PROF_MEMORY_DEFAULT];

    prof_control_forget();
    assert_int_equal(prof_init(memory, sizeof memory, &pit), PROF_OK);
    current_eoi_mechanism = NULL;
    assert_int_equal(prof_start(), PROF_EPORT);
    assert_false(prof_running());
    current_eoi_mechanism = world_eoi;
}
