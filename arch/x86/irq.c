/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The handlers of interrupt lines. The stubs call what is in the first table:
 * the handler itself, or, while interrupts are observed, a function that calls
 * it between the two observers.
 */

#include "trap.h"

#include <arch/cpu.h>
#include <arch/trap.h>
#include <stddef.h>

static void irq_unclaimed(void)
{
}

arch_irq_handler *trap_irq_handlers[ARCH_IRQ_COUNT] = {
    [0 ... ARCH_IRQ_COUNT - 1] = irq_unclaimed,
};

static arch_irq_handler *handlers[ARCH_IRQ_COUNT];
static arch_irq_observer *observe_enter, *observe_leave;

#define OBSERVED(line)                                                         \
    static void observed_##line(void)                                          \
    {                                                                          \
        observe_enter(ARCH_IRQ_BASE + (line));                                 \
        handlers[line]();                                                      \
        observe_leave(ARCH_IRQ_BASE + (line));                                 \
    }
OBSERVED(0)
OBSERVED(1)
OBSERVED(2)
OBSERVED(3)
OBSERVED(4)
OBSERVED(5)
OBSERVED(6)
OBSERVED(7)
OBSERVED(8)
OBSERVED(9)
OBSERVED(10)
OBSERVED(11)
OBSERVED(12)
OBSERVED(13)
OBSERVED(14)
OBSERVED(15)
OBSERVED(16)
OBSERVED(17)
OBSERVED(18)
OBSERVED(19)
OBSERVED(20)
OBSERVED(21)
OBSERVED(22)
OBSERVED(23)
OBSERVED(24)
OBSERVED(25)
OBSERVED(26)
OBSERVED(27)
OBSERVED(28)
OBSERVED(29)
OBSERVED(30)
OBSERVED(31)
OBSERVED(32)
OBSERVED(33)

static arch_irq_handler *const observed[ARCH_IRQ_COUNT] = {
    observed_0,  observed_1,  observed_2,  observed_3,  observed_4,
    observed_5,  observed_6,  observed_7,  observed_8,  observed_9,
    observed_10, observed_11, observed_12, observed_13, observed_14,
    observed_15, observed_16, observed_17, observed_18, observed_19,
    observed_20, observed_21, observed_22, observed_23, observed_24,
    observed_25, observed_26, observed_27, observed_28, observed_29,
    observed_30, observed_31, observed_32, observed_33,
};

/* Words between the frame pointer of observed_N and the interrupted address:
 * that pointer itself, the return address, and what the stub has saved. */
#ifdef __i386__
#define WORDS_TO_PC (2 + 3)
#else
#define WORDS_TO_PC (2 + 9)
#endif

void arch_irq_interrupted(const void *frame, struct arch_interrupted *at)
{
    const uintptr_t *const *own = frame;
    const uintptr_t *caller = *own;

    at->fp = caller[0];
    at->pc = caller[WORDS_TO_PC];
#ifdef __i386__
    at->sp = (uintptr_t)&caller[WORDS_TO_PC + 3]; /* eip, cs, eflags */
#else
    at->sp = caller[WORDS_TO_PC + 3];
#endif
}

static void install(unsigned line)
{
    arch_irq_handler *handler =
        handlers[line] != NULL ? handlers[line] : irq_unclaimed;

    handlers[line] = handler;
    trap_irq_handlers[line] = observe_enter != NULL ? observed[line] : handler;
}

void arch_irq_handle(unsigned line, arch_irq_handler *handler)
{
    handlers[line % ARCH_IRQ_COUNT] = handler;
    install(line % ARCH_IRQ_COUNT);
}

bool arch_irq_is_handled(unsigned line)
{
    arch_irq_handler *handler = handlers[line % ARCH_IRQ_COUNT];

    return handler != NULL && handler != irq_unclaimed;
}

void arch_irq_observe(arch_irq_observer *enter, arch_irq_observer *leave)
{
    bool on = arch_interrupts_save();

    observe_enter = enter;
    observe_leave = leave;
    for (unsigned line = 0; line < ARCH_IRQ_COUNT; line++)
        install(line);
    arch_interrupts_restore(on);
}
