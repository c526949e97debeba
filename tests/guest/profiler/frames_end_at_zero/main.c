/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every chain of frame pointers ends by itself, at a zero: in the service, in a
 * timer's callback, and in the timer's interrupt with the sampler before it and
 * without. Who walks a stack needs no other rule to stop.
 */

#include "guest/tap.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/trap.h>
#include <kernel/clock.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <pic.h>
#include <prof/prof.h>

#define FRAMES_MAX 32
#define MS_NS 1000000ull

#define NAMED __attribute__((noinline, noclone))

NAMED void deeper(void (*function)(void), unsigned levels);

struct frame {
    const struct frame *caller;
    uintptr_t return_address;
};

/* What one walk has met. */
struct walk {
    unsigned frames;        /* as many as had a caller */
    bool ended;             /* at a zero, and not by one of the tests */
    bool through_service;   /* a return address in service_main() */
    uintptr_t last_address; /* of the last frame that had any */
};

static volatile struct walk in_interrupt;
static volatile unsigned ticks_left; /* to be looked at */
static struct loop_timer timer;
static struct walk in_callback;

static bool believable(const struct frame *frame)
{
    return (uintptr_t)frame % sizeof(uintptr_t) == 0 &&
           (uintptr_t)frame >= (uintptr_t)boot_stack_bottom &&
           (uintptr_t)(frame + 1) <= (uintptr_t)boot_stack_top;
}

static bool in_text(uintptr_t address)
{
    return address > (uintptr_t)text_begin && address < (uintptr_t)text_end;
}

static bool in_service(uintptr_t address)
{
    return address > (uintptr_t)service_main &&
           address < (uintptr_t)service_main + 4096;
}

static struct walk walk_from(const struct frame *frame)
{
    struct walk walk = {0};

    while (frame != NULL && walk.frames < FRAMES_MAX) {
        if (!believable(frame) ||
            (frame->return_address != 0 && !in_text(frame->return_address)))
            return walk;
        if (frame->return_address != 0)
            walk.last_address = frame->return_address;
        if (in_service(frame->return_address))
            walk.through_service = true;
        if (frame->caller != NULL && frame->caller <= frame)
            return walk;
        frame = frame->caller;
        walk.frames++;
    }
    walk.ended = frame == NULL;
    return walk;
}

/* Instead of the kernel's own tick. */
static void on_tick(void)
{
    if (ticks_left > 0) {
        in_interrupt = walk_from(__builtin_frame_address(0));
        ticks_left--;
    }
    pic_eoi_timer();
}

static void wait_for_ticks(void)
{
    ticks_left = 3;
    while (ticks_left > 0)
        __asm__ volatile("");
}

static void halt_for_ticks(void)
{
    ticks_left = 3;
    while (ticks_left > 0) {
        arch_interrupts_off();
        arch_idle();
    }
}

/* Calls (function) with (levels) more frames on the stack. */
void deeper(void (*function)(void), unsigned levels)
{
    if (levels == 0)
        function();
    else
        deeper(function, levels - 1);
    __asm__ volatile("");
}

/* The interrupt's frame is between those of what it interrupts: each level more
 * there is a frame more here. */
static void test_interrupt(const char *what, void (*wait)(void))
{
    unsigned shallow;
    bool ended;

    deeper(wait, 0);
    ended = in_interrupt.ended;
    shallow = in_interrupt.frames;
    deeper(wait, 9);
    tap_note("%u and %u frames", shallow, in_interrupt.frames);
    tap_ok(ended && in_interrupt.ended && in_interrupt.through_service &&
               in_interrupt.frames == shallow + 9,
           what);
}

static void on_timer(void *unused)
{
    (void)unused;
    in_callback = walk_from(__builtin_frame_address(0));
    loop_stop();
}

int service_main(void)
{
    const struct walk here = walk_from(__builtin_frame_address(0));

    tap_plan(7);
    tap_ok(here.ended, "the service's frames end at a zero");
    tap_is_equal(here.frames, 3, "which are its own and its two callers'");
    loop_once(&timer, MS_NS, on_timer, NULL);
    loop_run();
    tap_ok(in_callback.ended && in_callback.through_service &&
               in_callback.last_address == here.last_address,
           "a callback's frames end where the service's do");

    arch_irq_handle(PIC_LINE_TIMER, on_tick);
    test_interrupt("an interrupt's frames do, too", wait_for_ticks);
    test_interrupt("also when it ends a halt", halt_for_ticks);
    tap_is_equal(prof_start(), 0, "the sampler starts");
    test_interrupt("and with the sampler before it", wait_for_ticks);
    prof_stop();
    return tap_end();
}
