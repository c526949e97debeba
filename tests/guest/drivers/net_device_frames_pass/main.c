/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network driver without a stack: asks QEMU's user network who has its
 * gateway's address, and reads the answers. want=start-N: the device cannot be
 * started, enum virtio_net_error N.
 */

#include "guest/tap.h"
#include "guest/word.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/service.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <virtio_net.h>

#define FRAME 60u
#define BURST 100u
#define ROUNDS 20u
#define WAIT_NS 100000000000ull

static const uint8_t gateway[] = {10, 0, 2, 2};
static const uint8_t ours[] = {10, 0, 2, 15};
static uint8_t mac[VIRTIO_NET_MAC];
static unsigned answers, strangers;
static unsigned seen_in, seen_out;
static bool refuse;

static void *pages(size_t bytes)
{
    return refuse ? NULL : memalign(VIRTIO_PAGE_BYTES, bytes);
}

/* An ARP request (RFC 826) for the gateway. */
static void ask(uint8_t *frame)
{
    static const uint8_t kinds[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 1};

    memset(frame, 0, FRAME);
    memset(frame, 0xff, 6);
    memcpy(frame + 6, mac, 6);
    memcpy(frame + 12, kinds, 10);
    memcpy(frame + 22, mac, 6);
    memcpy(frame + 28, ours, 4);
    memcpy(frame + 38, gateway, 4);
}

static bool is_answer(const uint8_t *frame, size_t bytes)
{
    return bytes >= 42 && memcmp(frame, mac, 6) == 0 && frame[12] == 8 &&
           frame[13] == 6 && frame[21] == 2 &&
           memcmp(frame + 28, gateway, 4) == 0 &&
           memcmp(frame + 38, ours, 4) == 0;
}

static void read_all(void)
{
    const uint8_t *frame;
    size_t bytes;
    bool sum_good;

    while ((frame = virtio_net_take(&bytes, &sum_good)) != NULL) {
        answers += is_answer(frame, bytes);
        strangers += !is_answer(frame, bytes);
        virtio_net_give_back(frame);
    }
    virtio_net_offer();
}

/* Waits for (count) answers; halts, and is woken by the device. */
static bool wait(unsigned count)
{
    uint64_t begin_ns = clock_ns();

    while (clock_ns() - begin_ns < WAIT_NS) {
        read_all();
        if (answers >= count)
            return true;
        arch_interrupts_off();
        if (virtio_interrupts(virtio_net_in(), true))
            arch_interrupts_on();
        else
            arch_idle();
    }
    return false;
}

/* (count) requests and one kick. Returns how many there was room for. */
static unsigned burst(unsigned count)
{
    unsigned sent = 0;
    uint8_t *frame;

    for (; sent < count && (frame = virtio_net_room()) != NULL; sent++) {
        ask(frame);
        virtio_net_put(FRAME, &(struct virtio_net_sum){0});
    }
    virtio_kick(virtio_net_out());
    return sent;
}

static void on_request(const struct virtio_request *request)
{
    if (request->kind != VIRTIO_NETWORK ||
        request->taken_tsc < request->put_tsc)
        return;
    seen_in += request->queue == 0;
    seen_out += request->queue == 1;
}

static void test_room(void)
{
    unsigned entries = virtio_net_out()->size, put = 0;
    uint8_t *frame;

    tap_ok(virtio_net_room() == virtio_net_room(),
           "room is the same until a frame is put");
    while ((frame = virtio_net_room()) != NULL && put <= entries) {
        ask(frame);
        virtio_net_put(FRAME, &(struct virtio_net_sum){0});
        put++;
    }
    tap_is_between(put, entries / 2, entries,
                   "as many frames as the queue has room for, and no more");
    virtio_kick(virtio_net_out());
    tap_ok(wait(1 + put), "all of them are sent and answered");
    tap_ok(virtio_net_room() != NULL, "and then there is room again");
}

/* An answer may be there before anybody halts for it: then another is asked
 * for, until one has to be waited for. */
static bool answers_interrupt(void)
{
    for (unsigned i = 0; i < 1000 && virtio_net_interrupts() == 0; i++)
        if (burst(1) != 1 || !wait(answers + 1))
            return false;
    return virtio_net_interrupts() != 0;
}

/* The device may answer a frame before it says that the frame was sent. */
static void await_sent(void)
{
    uint64_t begin_ns = clock_ns();

    while (!virtio_all_done(virtio_net_out()) &&
           clock_ns() - begin_ns < WAIT_NS)
        ;
    (void)virtio_net_room(); /* takes them back, and so they are seen */
}

static void test_bursts(void)
{
    const struct virtio_counts *out = &virtio_net_out()->counts;
    uint64_t kicks = out->kicks;
    bool all = true;

    answers = 0;
    virtio_observe(on_request);
    for (unsigned i = 1; i <= ROUNDS; i++)
        all = all && burst(BURST) == BURST && wait(i * BURST);
    await_sent();
    virtio_observe(NULL);
    tap_ok(all, "bursts of a hundred frames pass, both ways");
    tap_is_equal(answers, ROUNDS * BURST, "none is lost or doubled");
    tap_is_equal(strangers, 0, "none is damaged");
    tap_ok(seen_in == ROUNDS * BURST && seen_out == ROUNDS * BURST,
           "who watches sees each, with its times");
    tap_is_between((long long)(out->kicks - kicks), 1, ROUNDS,
                   "a burst needs one kick");
    tap_ok(answers_interrupt(), "interrupts have ended the halts");
}

static int test_works(void)
{
    static const uint8_t given[] = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56};

    tap_plan(15);
    refuse = true;
    tap_is_equal(virtio_net_start(pages), VIRTIO_NET_MEMORY,
                 "without memory it does not start");
    refuse = false;
    tap_is_equal(virtio_net_start(pages), 0, "with it, it does");
    tap_is_equal(virtio_net_start(pages), 0, "and again is harmless");
    virtio_net_mac(mac);
    tap_ok(memcmp(mac, given, sizeof mac) == 0, "it has the address given");
    tap_ok(burst(1) == 1 && wait(1), "a question is answered");
    test_room();
    test_bursts();
    return tap_end();
}

int service_main(void)
{
    int start_error = atoi(guest_word + sizeof "start-" - 1);

    if (guest_is(""))
        return test_works();
    tap_plan(1);
    tap_is_equal(virtio_net_start(pages), start_error, "it does not start");
    return tap_end();
}
