/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The switch between stacks, for sanitizers: they must hear of each, or take
 * frames of one stack for those of another. The switch itself is the kernel's
 * (arch/x86/context.c and WIDTH/context.asm), under other names in such builds.
 * Source: <sanitizer/common_interface_defs.h>, <sanitizer/tsan_interface.h>.
 */

#include "../task/stacks.h"

#include <arch/boot.h>
#include <arch/context.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

uintptr_t hosted_context_new(uintptr_t top, void (*entry)(void));
void hosted_switch_registers(uintptr_t *from, uintptr_t to);

/* Above the first frame of each stack. */
struct fiber {
    _Alignas(16) void (*entry)(void);
};

static struct stack stack_of(uintptr_t address)
{
    struct stack stack;

    if (!stack_find(address, &stack))
        stack = (struct stack){(uintptr_t)boot_stack_bottom,
                               (uintptr_t)boot_stack_top};
    return stack;
}

#ifdef __SANITIZE_ADDRESS__

#include <sanitizer/common_interface_defs.h>

/* A kernel frees nothing at its end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static void begin_fiber(const struct stack *stack)
{
    (void)stack;
}

static void leave_fiber(const struct stack *to, void **fake)
{
    __sanitizer_start_switch_fiber(fake, (const void *)to->begin,
                                   to->end - to->begin);
}

static void arrive_on_fiber(void *fake)
{
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

#else

#include <sanitizer/tsan_interface.h>

/* What it takes each stack for, by the stack's end; stacks are never unmapped.
 * A thread that has ended on a stack is destroyed when another begins there. */
#define THREADS_MAX 16384u

static struct thread {
    uintptr_t stack_end;
    void *thread;
} threads[THREADS_MAX];

static struct thread *thread_of(const struct stack *stack)
{
    size_t slot = stack->end / ARCH_PAGE_BYTES % THREADS_MAX;

    while (threads[slot].stack_end != 0 &&
           threads[slot].stack_end != stack->end)
        slot = (slot + 1) % THREADS_MAX;
    threads[slot].stack_end = stack->end;
    return &threads[slot];
}

static void begin_fiber(const struct stack *stack)
{
    struct thread *thread = thread_of(stack);

    if (thread->thread != NULL)
        __tsan_destroy_fiber(thread->thread);
    thread->thread = __tsan_create_fiber(0);
}

static void leave_fiber(const struct stack *to, void **fake)
{
    *fake = NULL;
    __tsan_switch_to_fiber(thread_of(to)->thread, 0);
}

static void arrive_on_fiber(void *fake)
{
    (void)fake;
}

#endif

/* Called by arch_context_begin, right below what arch_context_new() has put
 * there. */
static void enter_fiber(void)
{
    const uintptr_t *frame = __builtin_frame_address(0);

    arrive_on_fiber(NULL);
    ((const struct fiber *)(frame + 2))->entry();
}

uintptr_t arch_context_new(uintptr_t top, void (*entry)(void))
{
    struct fiber *fiber = (struct fiber *)top - 1;
    struct stack stack = stack_of((uintptr_t)fiber);

    fiber->entry = entry;
    begin_fiber(&stack);
    return hosted_context_new((uintptr_t)fiber, enter_fiber);
}

/* Not instrumented: it begins on one stack, and ends on another. */
__attribute__((no_sanitize("thread"))) void arch_context_switch(uintptr_t *from,
                                                                uintptr_t to)
{
    struct stack stack = stack_of(to);
    void *fake;

    leave_fiber(&stack, &fake);
    hosted_switch_registers(from, to);
    arrive_on_fiber(fake);
}

#endif
