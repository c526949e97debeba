/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Interrupted code must not notice: every general register, the flags with the
 * direction flag set, the stack pointer, the x87 and the XMM registers hold a
 * pattern while ticks come. On each way through the sampler: every tick passed
 * on to the kernel, most of them acknowledged by the sampler, vector full.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <stddef.h>
#include <string.h>

#define FLAGS_FIXED 0x202u /* interrupts on; and bit 1, which is always set */
#define FLAGS_ALL 0xcd5u   /* direction and the six of the arithmetic */
#define FLAGS_DIRECTION 0x400u

/*
 * Loads every register from hold_in, executes some thousand instructions that
 * change none, and stores every register to hold_out. Written in hold.asm.
 */
void hold(void);

/* What FXSAVE stores (Intel SDM vol. 1, 10.5.1): x87, MXCSR and XMM. */
#define HOLD_FPU_BYTES 512u
#define HOLD_FPU_TAGS 4u /* a bit for each x87 register that holds a number */
#define HOLD_FPU_ST 32u  /* x87 registers, the first 10 of 16 bytes each */
#define HOLD_FPU_XMM 160u

#ifdef __x86_64__
#define HOLD_XMM_COUNT 16u
#define HOLD_REGISTERS 15u /* all but the stack pointer */
#else
#define HOLD_XMM_COUNT 8u
#define HOLD_REGISTERS 7u
#endif

/* The offsets are known to hold.asm: registers, flags, moved, fpu. */
struct hold_registers {
    uintptr_t general[HOLD_REGISTERS];
    uintptr_t flags;
    uintptr_t moved; /* out: bytes by which the stack pointer has moved */
    uint8_t fpu[HOLD_FPU_BYTES] __attribute__((aligned(16)));
};
struct hold_registers hold_in, hold_out;

_Static_assert(offsetof(struct hold_registers, fpu) ==
                   (HOLD_REGISTERS == 15 ? 144 : 48),
               "hold.asm knows the layout");
_Static_assert(offsetof(struct hold_registers, flags) ==
                   HOLD_REGISTERS * sizeof(uintptr_t),
               "hold.asm knows the layout");

/* Words that have little in common, and nothing with the sampler's own. */
static uint32_t pattern(void)
{
    static uint32_t state = 99;

    state = state * 1664525u + 1013904223u;
    return state ^ state >> 15;
}

static void fill(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(pattern() >> 9);
}

static void prepare(uint32_t round)
{
    static const uint32_t flags[] = {FLAGS_ALL, FLAGS_DIRECTION, 0};

    for (size_t i = 0; i < HOLD_REGISTERS; i++)
        hold_in.general[i] = (uintptr_t)pattern() * 0x10001u;
    hold_in.flags = FLAGS_FIXED | flags[round % 3];
    hold_in.moved = 0;
    __asm__ volatile("fninit; fxsave %0" : "=m"(hold_in.fpu));
    hold_in.fpu[HOLD_FPU_TAGS] = 0xff;
    for (size_t i = 0; i < 8; i++)
        fill(hold_in.fpu + HOLD_FPU_ST + 16 * i, 10);
    fill(hold_in.fpu + HOLD_FPU_XMM, (size_t)16 * HOLD_XMM_COUNT);
}

/* Which part has changed, NULL for none. */
static const char *changed(void)
{
    if (memcmp(hold_in.general, hold_out.general, sizeof hold_in.general) != 0)
        return "a general register";
    if (hold_in.flags != hold_out.flags)
        return "the flags";
    if (hold_out.moved != 0)
        return "the stack pointer";
    if (memcmp(hold_in.fpu, hold_out.fpu, 5) != 0 ||
        memcmp(hold_in.fpu + 24, hold_out.fpu + 24, 4) != 0)
        return "the FPU's control or status";
    for (size_t i = HOLD_FPU_ST; i < HOLD_FPU_XMM; i += 16)
        if (memcmp(hold_in.fpu + i, hold_out.fpu + i, 10) != 0)
            return "an x87 register";
    if (memcmp(hold_in.fpu + HOLD_FPU_XMM, hold_out.fpu + HOLD_FPU_XMM,
               (size_t)16 * HOLD_XMM_COUNT) != 0)
        return "an XMM register";
    return NULL;
}

/* For (seconds) at (hz), drained or not. */
static void test_path(uint32_t hz, uint32_t seconds, bool drained,
                      const char *what)
{
    const char *change = NULL;
    uint64_t begin;
    struct prof_row row;

    prof_set_rate(hz);
    prof_reset();
    prof_start();
    begin = arch_tsc();
    for (uint32_t round = 0;
         change == NULL &&
         arch_tsc() - begin < (uint64_t)seconds * GUEST_TSC_HZ;
         round++) {
        prepare(round);
        hold();
        change = changed();
        if (drained)
            loop_poll();
    }
    prof_stop();
    prof_drain();
    row = guest_row((uintptr_t)hold);
    tap_ok(change == NULL, what);
    if (change != NULL)
        tap_note("%s has changed", change);
    tap_note("%u ticks seen while the patterns were held; the vector was full "
             "for %u, and the overflow table for %u",
             (unsigned)row.samples, (unsigned)guest_stats().overflowed,
             (unsigned)guest_stats().dropped);
    tap_ok(row.samples > 500, "  ticks came");
    tap_ok((guest_stats().overflowed > 500) == !drained,
           drained ? "  the vector was never full" : "  the vector was full");
}

int service_main(void)
{
    tap_plan(9);
    test_path(100, 10, true, "registers survive ticks that pass on");
    test_path(10000, 2, true, "registers survive ticks of the sampler's own");
    test_path(10000, 3, false, "registers survive a full vector");
    return tap_end();
}
