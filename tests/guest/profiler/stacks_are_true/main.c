/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The call stack of a sample is the one that the program really had, whatever
 * instruction it hits: the CPU's trap flag stops after every single one of
 * some functions, a sample is taken there, and what the profiler makes of it
 * is compared with a list of calls and returns that were seen on the way.
 */

#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/tap.h"
#include "unit/single_step.h"

#include <arch/boot.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUG_VECTOR 1
#define FAILURES_SHOWN 3

#define CHAIN_MAX 140

/* A call stack as it should be: an address, and the return
 * addresses of its callers, innermost first. */
struct chain {
    uintptr_t addresses[CHAIN_MAX];
    uint32_t count;
};

static bool chain_is_equal(const struct chain *a, const struct chain *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->addresses[i] != b->addresses[i])
            return false;
    return true;
}

static void show(const char *what, const struct chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        struct prof_symbol symbol = {.start = 0};
        char name[64] = "?";

        if (prof_symbol_find(chain->addresses[i] - (i > 0), &symbol))
            prof_symbol_name(&symbol, name, sizeof name);
        console_line("# %s %u: 0x%lx %s+0x%lx", what, (unsigned)i,
                     (unsigned long)chain->addresses[i], name,
                     (unsigned long)(chain->addresses[i] - symbol.start));
    }
}

/* Both of them on the console, as comments. */
static void chain_show(const struct chain *got, const struct chain *wanted)
{
    show("got", got);
    show("wanted", wanted);
}

static void keep(const struct prof_stack_row *row, void *context)
{
    struct chain *chain = context;

    /* Two of them would be one too many: a chain that fits to nothing. */
    chain->count = chain->count == 0 ? row->count : CHAIN_MAX;
    for (uint32_t i = 0; i < row->count; i++)
        chain->addresses[i] = row->addresses[i];
}

/* Takes one sample of (pc, sp, fp) and says what became of it: the only stack
 * that the profiler knows after that. */
static struct chain chain_sampled(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    struct chain chain = {.count = 0};

    prof_reset();
    prof_sample(pc, sp, fp);
    prof_drain();
    prof_visit_stacks(keep, &chain);
    return chain;
}

/* The return addresses from the frame at (fp) on, down to a zero. */
static struct chain chain_of_frames(uintptr_t fp)
{
    struct chain chain = {.count = 0};

    for (; fp != 0; fp = *(const uintptr_t *)fp) {
        uintptr_t address = ((const uintptr_t *)fp)[1];

        if (address == 0)
            break;
        chain.addresses[chain.count++] = address;
    }
    return chain;
}

/* ---- step by step */

static struct {
    bool begun;
    struct chain base;            /* who calls step_through() */
    uintptr_t returns[CHAIN_MAX]; /* calls seen since, outermost first */
    uint32_t depth;               /* of these */
    uintptr_t before;             /* the instruction that was just done */
    unsigned done, failed, unreachable;
} steps;

static bool is_call(const uint8_t *code)
{
    if ((code[0] & 0xf0) == 0x40 && sizeof(void *) == 8)
        code++;
    return code[0] == 0xe8 || (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}

static bool is_return(const uint8_t *code)
{
    return code[0] == 0xc3 || code[0] == 0xc2 ||
           (code[0] == 0xf3 && code[1] == 0xc3);
}

/* Keeps the list of calls as the last instruction demands. */
static void follow(uintptr_t sp)
{
    const uint8_t *code = (const uint8_t *)steps.before;

    if (code == NULL)
        return;
    if (is_call(code))
        steps.returns[steps.depth++] = *(const uintptr_t *)sp;
    else if (is_return(code) && steps.depth > 0)
        steps.depth--;
}

static struct chain truth(uintptr_t pc)
{
    struct chain chain = {.addresses = {pc}, .count = 1};

    for (uint32_t i = steps.depth; i > 0; i--)
        chain.addresses[chain.count++] = steps.returns[i - 1];
    for (uint32_t i = 0; i < steps.base.count; i++)
        chain.addresses[chain.count++] = steps.base.addresses[i];
    return chain;
}

/* The instruction at (pc) is next, with these (sp) and (fp). */
static void step(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    struct chain wanted, got;

    if (!steps.begun) {
        /* after the call, which the trap flag lets pass */
        steps.base = chain_of_frames(fp);
        steps.returns[steps.depth++] = *(const uintptr_t *)sp;
        steps.begun = true;
    }
    follow(sp);
    steps.before = pc;
    wanted = truth(pc);
    got = chain_sampled(pc, sp, fp);
    steps.done++;
    if (guest_stats().caller_unreachable != 0)
        steps.unreachable++;
    else if (!chain_is_equal(&got, &wanted) && steps.failed++ < FAILURES_SHOWN)
        chain_show(&got, &wanted);
}

/* The debug exception after each instruction. */
HANDLER static void on_step(uintptr_t *pushed)
{
    static _Alignas(16) uint8_t floats[512];

    __asm__ volatile("fxsave %0" : "=m"(floats));
    step(pushed[PUSHED_IP], guest_pushed_sp(pushed), pushed[PUSHED_FP]);
    __asm__ volatile("fxrstor %0" : : "m"(floats));
}

static __attribute__((noinline)) void step_through(void (*function)(void))
{
    STEP_ON();
    function();
    STEP_OFF();
}

static void test_steps(const char *name, void (*function)(void))
{
    bool on = arch_interrupts_save();

    memset(&steps, 0, sizeof steps);
    step_through(function);
    arch_interrupts_restore(on);
    tap_note("%s: %u instructions, %u out of reach", name, steps.done,
             steps.unreachable);
    tap_ok(steps.failed == 0 && steps.done > 5 && steps.unreachable == 0, name);
}

/* ---- functions as the compiler makes them */

static volatile unsigned sink, four = 4;

static __attribute__((noinline)) unsigned small_leaf(unsigned a, unsigned b)
{
    return a * 3 + b;
}

static __attribute__((noinline)) unsigned middle(unsigned a)
{
    return small_leaf(a, 2) + small_leaf(a + 1, 3);
}

static void calls(void)
{
    sink = middle(5) + middle(6);
}

static __attribute__((noinline)) unsigned recursive(unsigned n)
{
    return n == 0 ? 1 : recursive(n - 1) + n;
}

static void recursion(void)
{
    sink = recursive(100);
}

/* A frame is set up on one of its ways only. */
static __attribute__((noinline)) unsigned sometimes(unsigned n)
{
    if (n < 3)
        return n + 1;
    return small_leaf(n, small_leaf(n, 1));
}

static void shrink_wrapped(void)
{
    sink = sometimes(1) + sometimes(four);
}

static __attribute__((noinline)) unsigned choose(unsigned n)
{
    switch (n) {
    case 0:
        return sink + 3;
    case 1:
        return sink * 7;
    case 2:
        return small_leaf(sink, 1);
    case 3:
        return sink - 9;
    case 4:
        return sink ^ 0x55;
    case 5:
        return small_leaf(1, sink);
    default:
        return 77;
    }
}

static void switches(void)
{
    for (unsigned i = 0; i < 8; i++)
        sink = choose(i);
}

static __attribute__((noinline)) unsigned big_frame(unsigned n)
{
    volatile unsigned char room[3000];

    room[n] = 1;
    return small_leaf(room[n], n);
}

static void frames(void)
{
    unsigned char *piece = __builtin_alloca(four * 16);

    memset(piece, 1, four * 16);
    sink = big_frame(four) + piece[3];
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void library(void)
{
    static char text[100];
    int numbers[] = {5, 2, 9, 1, 7, 3};

    qsort(numbers, 6, sizeof *numbers, compare);
    snprintf(text, sizeof text, "%d %s %08x", numbers[0], "words", 0x1234u);
    sink = (unsigned)strlen(text) + (unsigned)strtoul("12345", NULL, 10);
    memmove(text + 1, text, 50);
    sink += (unsigned)strcmp(text, "w") + (strchr(text, 'w') != NULL);
}

/* Functions in assembly, each of which calls nothing. */
void asm_frameless(void);    /* moves, no stack */
void asm_one_push(void);     /* one word in use, then none */
void asm_late_frame(void);   /* instructions before and inside the prologue */
void asm_early_return(void); /* returns before it has a frame */
void asm_endbr(void);        /* begins with endbr */
void asm_leave(void);        /* sub, leave */
void asm_behind_pop(void);   /* instructions between pop and ret */
void asm_jumps(void);        /* a loop without a frame, in odd order */

static void assembly(void)
{
    asm_frameless();
    asm_one_push();
    asm_late_frame();
    asm_early_return();
    asm_endbr();
    asm_leave();
    asm_behind_pop();
    asm_jumps();
}

/* ---- a task with a stack of its own */

#define TASK_STACK_BYTES 16384u

static bool task_good;

static __attribute__((noinline)) void task_body(void)
{
    uintptr_t fp = (uintptr_t)__builtin_frame_address(0);
    struct chain wanted = chain_of_frames(fp);
    struct chain got = chain_sampled((uintptr_t)small_leaf, fp - 64, fp);

    /* what lies at that stack pointer is no return address of small_leaf() */
    got.addresses[0] = 0;
    memmove(wanted.addresses + 1, wanted.addresses,
            sizeof wanted.addresses - sizeof wanted.addresses[0]);
    wanted.addresses[0] = 0;
    wanted.count++;
    task_good = got.count >= wanted.count && wanted.count == 2 &&
                got.addresses[got.count - 1] == wanted.addresses[1];
}

static void test_task(void)
{
    char *stack = malloc(TASK_STACK_BYTES);
    char *top = stack + TASK_STACK_BYTES - 2 * sizeof(uintptr_t);
    uint64_t outside;
    bool on = arch_interrupts_save();

    memset(stack, 0, TASK_STACK_BYTES);
    guest_call_on(top, 0, task_body);
    outside = guest_stats().stopped[4];
    tap_ok(!task_good && outside == 1,
           "an unannounced stack is not walked, and counted");
    prof_stack_set((uintptr_t)stack, (uintptr_t)stack + TASK_STACK_BYTES);
    guest_call_on(top, 0, task_body);
    tap_ok(task_good && guest_stats().stopped[4] == 0,
           "a task is walked by its own bounds");
    prof_stack_set((uintptr_t)boot_stack_bottom, (uintptr_t)boot_stack_top);
    arch_interrupts_restore(on);
    free(stack);
}

int service_main(void)
{
    tap_plan(10);
    guest_set_gate(DEBUG_VECTOR, guest_entry(0, on_step));
    prof_start();
    test_steps("calls of small leaves", calls);
    test_steps("recursion", recursion);
    test_steps("a frame on one way only", shrink_wrapped);
    test_steps("switches", switches);
    test_steps("frames of several shapes", frames);
    test_steps("assembly with and without frames", assembly);
    test_steps("the C library", library);
    test_task();
    prof_stop();
    prof_drain();
    tap_ok(guest_stats().queued == 0, "nothing is left behind");
    return tap_end();
}
