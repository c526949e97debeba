/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What `parasite attach` reads of a profiler in its guest's memory, from the
 * profiler itself, which is in this program's.
 */

#include "../unit.h"

#include "attach/inside.h"
#include "sample/cpu_state.h"
#include "stream/stream.h"

#define ENTRIES 8u
#define TSC_HZ 2000000000u

extern const struct prof_outside prof_outside;

static struct prof_entry entries[ENTRIES];
static unsigned reads;
static bool is_gone;

/* The image's symbols are this program's. */
bool image_object(const struct image *image, const char *name,
                  uint64_t *address)
{
    (void)image;
    *address = (uintptr_t)&prof_outside;
    return strcmp(name, "prof_outside") == 0;
}

static bool copy(void *owner, uint64_t address, uint8_t *to, size_t count)
{
    (void)owner;
    ++reads;
    if (is_gone || address == 0)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, count);
    return true;
}

static const struct places_memory memory = {copy, NULL};

/* A profiler that has been opened, at TSC (zero). */
static void open_profiler(struct inside *inside, uint64_t zero)
{
    static const struct image image;

    memset(entries, 0, sizeof entries);
    memset(&prof_encoders[0].writer.label, 0,
           sizeof prof_encoders[0].writer.label);
    prof_ring_open(&prof_cpus[0].ring, entries, entries + ENTRIES);
    prof_stream_clock_set(&prof_encoders[0].writer.clock, zero, TSC_HZ);
    prof_encoders[0].writer.label.uuid[0] = 7;
    prof_encoders[0].writer.label.uuid[15] = 9;
    inside_open(inside, &image);
}

/* A sample, drained at once. */
static void sample(uint64_t tsc)
{
    struct prof_ring *ring = &prof_cpus[0].ring;

    assert_false(prof_ring_full(ring));
    prof_ring_push(ring, 1, tsc, 0);
    prof_ring_release(ring, prof_ring_head(ring));
}

TEST(the_newest_sample_is_found)
{
    struct inside inside;

    open_profiler(&inside, 1000);
    for (uint64_t i = 1; i <= 3 * ENTRIES; ++i) {
        uint64_t tsc = 1000 + i * TSC_HZ;

        sample(tsc);
        inside_look(&inside, &memory, 0);
        assert_true(inside.is_new);
        assert_true(inside.newest ==
                    prof_stream_clock_at(&prof_encoders[0].writer.clock, tsc));
        assert_true(inside.uuid[0] == 7 && inside.uuid[15] == 9);
    }
    assert_int_equal(inside.looks, 3 * ENTRIES);
}

TEST(a_look_is_two_reads)
{
    struct inside inside;

    open_profiler(&inside, 1000);
    sample(2000);
    inside_look(&inside, &memory, 0);
    reads = 0;
    for (unsigned i = 0; i < 10; ++i)
        inside_look(&inside, &memory, 0);
    assert_int_equal(reads, 20);
    assert_false(inside_due(&inside, 0.005));
    assert_true(inside_due(&inside, 0.011));
}

TEST(nothing_is_found_before_there_is_something)
{
    struct inside inside;

    open_profiler(&inside, 1000);
    inside_look(&inside, &memory, 0);
    assert_false(inside.is_new);
    sample(2000);
    memset(prof_encoders[0].writer.label.uuid, 0,
           sizeof prof_encoders[0].writer.label.uuid);
    inside_look(&inside, &memory, 0);
    assert_false(inside.is_new);
    inside_look(&inside, &memory, 0); /* still no stream */
    assert_false(inside.is_new);
    prof_encoders[0].writer.label.uuid[3] = 1;
    inside_look(&inside, &memory, 0);
    assert_true(inside.is_new && inside.looks == 1);
    assert_int_equal(inside.uuid[3], 1);
    is_gone = true;
    inside_look(&inside, &memory, 0);
    assert_false(inside.is_new);
    is_gone = false;
}

TEST(another_boot_is_noticed)
{
    struct inside inside;

    open_profiler(&inside, 1000);
    sample(5000);
    inside_look(&inside, &memory, 0);
    assert_int_equal(inside.uuid[0], 7);
    memset(entries, 0, sizeof entries);
    prof_ring_open(&prof_cpus[0].ring, entries, entries + ENTRIES);
    prof_encoders[0].writer.label.uuid[0] = 8;
    sample(3000);
    inside_look(&inside, &memory, 0);
    assert_true(inside.is_new);
    assert_int_equal(inside.uuid[0], 8);
}

TEST(an_image_without_it_is_never_read)
{
    struct inside inside;

    inside_open(&inside, NULL);
    assert_false(inside_due(&inside, 1e9));
}
