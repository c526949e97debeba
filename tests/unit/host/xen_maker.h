/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XEN_MAKER_H
#define XEN_MAKER_H

/*
 * A Xen that is made up: a test writes to (fake) what it has, and opens its
 * only domain as (xen). Frames have their own memory, so that a sanitizer sees
 * what is read after it was unmapped.
 */

#include "xen/xen.h"

#define FRAMES 16u /* that there are, from (first) on */
#define CPUS 2u
#define P 1u
#define ROOT 0x1000u
#define NONE 3u /* the number of a frame that is missing */

/* What the made-up Xen has, and what it was asked. */
static struct {
    struct xen_about about;
    struct xen_state state;
    int open_error;
    int pause_error;
    int unpause_error;
    int context_error[CPUS];
    bool offline[CPUS];
    bool blocked[CPUS];
    uint8_t contexts[CPUS][XEN_PV64_BYTES];
    uint64_t first; /* frame */
    uint8_t *ram;
    unsigned paused;
    unsigned maps;
    unsigned mapped; /* mappings that there are */
    unsigned closed;
} fake;

static int fake_open(void *owner, unsigned number, struct xen_about *about)
{
    assert_true(owner == &fake);
    assert_true(number == 7);
    *about = fake.about;
    return fake.open_error;
}

static int fake_pause(void *owner, struct xen_state *state,
                      struct xen_cpu_state *cpus)
{
    (void)owner;
    if (fake.pause_error != 0)
        return fake.pause_error;
    ++fake.paused;
    *state = fake.state;
    for (unsigned i = 0; i < fake.about.cpus; ++i)
        cpus[i] = (struct xen_cpu_state){
            .online = !fake.offline[i],
            .blocked = fake.blocked[i],
            .error = fake.context_error[i],
            .context = fake.contexts[i],
        };
    return 0;
}

static int fake_unpause(void *owner)
{
    (void)owner;
    assert_true(fake.paused == 1);
    if (fake.unpause_error == 0)
        --fake.paused;
    return fake.unpause_error;
}

static const uint8_t *fake_map(void *owner, const uint64_t *frames,
                               size_t count, uint8_t *missing)
{
    uint8_t *bytes = calloc(count, XEN_FRAME_BYTES);
    bool any = false;

    (void)owner;
    ++fake.maps;
    for (size_t i = 0; i < count; ++i) {
        uint64_t number = frames[i] - fake.first;

        missing[i] =
            frames[i] < fake.first || number >= FRAMES || number == NONE;
        if (!missing[i])
            memcpy(bytes + i * XEN_FRAME_BYTES,
                   fake.ram + number * XEN_FRAME_BYTES, XEN_FRAME_BYTES);
        any = any || !missing[i];
    }
    if (any) {
        ++fake.mapped;
        return bytes;
    }
    free(bytes);
    return NULL;
}

static void fake_unmap(void *owner, const uint8_t *bytes, size_t count)
{
    (void)owner;
    (void)count;
    --fake.mapped;
    free((void *)bytes);
}

static void fake_close(void *owner)
{
    (void)owner;
    ++fake.closed;
}

static const struct xen_calls calls = {fake_open, fake_pause, fake_unpause,
                                       fake_map,  fake_unmap, fake_close};

static struct xen xen;

static void put64(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; ++i)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void put32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; ++i)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Of a table at an address from the first frame on. */
static void entry(uint64_t table, unsigned index, uint64_t value)
{
    put64(fake.ram + table + 8 * index, value);
}

static void begin(void)
{
    memset(&fake, 0, sizeof fake);
    fake.ram = calloc(FRAMES, XEN_FRAME_BYTES);
    fake.about = (struct xen_about){.is_hvm = true, .cpus = 1};
    assert_non_null(fake.ram);
}

static void finish(void)
{
    free(fake.ram);
}

static void open_domain(void)
{
    assert_true(xen_begin(&xen, &calls, &fake, 7) == 0);
    assert_true(xen.machine.cpu_count == fake.about.cpus);
}

static void close_domain(void)
{
    machine_end(&xen.machine);
    assert_true(fake.mapped == 0 && fake.paused == 0 && fake.closed == 1);
}

#endif
