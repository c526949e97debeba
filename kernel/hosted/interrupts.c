/* SPDX-License-Identifier: Apache-2.0 */

#include "interrupts.h"

#include <arch/cpu.h>
#include <arch/registers.h>
#include <arch/trap.h>
#include <errno.h>
#include <kernel/clock.h>
#include <kernel/loop.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <irq.h>
#include <pic.h>
#include <pit.h>
#include <prof/prof.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define SIGNAL_STACK_BYTES (128u * 1024u)

#ifdef __x86_64__
#define PC REG_RIP
#define SP REG_RSP
#define FP REG_RBP
#else
#define PC REG_EIP
#define SP REG_ESP
#define FP REG_EBP
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

/* What a signal has interrupted. */
struct interrupted {
    uintptr_t pc, sp, fp;
};

/* Written by the thread, and by the handler, which restores it. */
static volatile bool off, pending, idle;
static volatile sig_atomic_t ending; /* SIGINT or SIGTERM */

static arch_irq_handler *kernel_tick;
static arch_irq_observer *observe_enter, *observe_leave;
static uint64_t tick_due_ns;
static struct interrupted now; /* for arch_irq_interrupted() */

/* ---- ticks */

static void tick_kernel(void)
{
    uint64_t ns = clock_real_ns();

    if (kernel_tick == NULL || ns < tick_due_ns)
        return;
    tick_due_ns = ns - ns % CLOCK_TICK_NS + CLOCK_TICK_NS;
    if (observe_enter != NULL)
        observe_enter(ARCH_IRQ_BASE);
    kernel_tick();
    if (observe_leave != NULL)
        observe_leave(ARCH_IRQ_BASE);
}

/* With interrupts off. The loop's guard may print here. */
static void take_interrupt(const struct interrupted *at)
{
    int before = errno;

    now = *at;
    tick_kernel();
    prof_sample(now.pc, now.sp, now.fp);
    errno = before;
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct interrupted at = {(uintptr_t)registers[PC], (uintptr_t)registers[SP],
                             (uintptr_t)registers[FP]};

    (void)number;
    (void)info;
    if (off) {
        pending = true;
        return;
    }
    if (idle)
        at = (struct interrupted){(uintptr_t)arch_idle_begin, 0, 0};
    off = true;
    take_interrupt(&at);
    off = false;
}

bool hosted_interrupts_off(void)
{
    bool on = !off;

    off = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return on;
}

void hosted_interrupts_restore(bool on)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    const struct interrupted at = {(uintptr_t)__builtin_return_address(0),
                                   (uintptr_t)(frame + 2), *frame};

    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!on)
        return;
    for (off = false; pending; off = false) {
        off = true;
        pending = false;
        take_interrupt(&at);
    }
}

bool hosted_interrupts_are_on(void)
{
    return !off;
}

void hosted_idle_begin(void)
{
    idle = true;
}

void hosted_idle_end(void)
{
    idle = false;
}

void hosted_ticks_start(uint32_t hz)
{
    long period_ns = (long)(NS_PER_S / hz);
    struct itimerspec period = {
        {(time_t)(period_ns / (long)NS_PER_S), period_ns % (long)NS_PER_S},
        {(time_t)(period_ns / (long)NS_PER_S), period_ns % (long)NS_PER_S},
    };
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGPROF};
    timer_t timer;

    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &period, NULL) != 0)
        panic("the process has no timer");
}

/* ---- the PIC and the PIT of kernel/clock.c */

void arch_irq_handle(unsigned line, arch_irq_handler *handler)
{
    if (line == PIC_LINE_TIMER)
        kernel_tick = handler;
}

void arch_irq_observe(arch_irq_observer *enter, arch_irq_observer *leave)
{
    bool on = hosted_interrupts_off();

    observe_enter = enter;
    observe_leave = leave;
    hosted_interrupts_restore(on);
}

void arch_irq_interrupted(const void *frame, struct arch_interrupted *at)
{
    (void)frame;
    *at = (struct arch_interrupted){now.pc, now.sp, now.fp};
}

bool acpi_start(uintptr_t root)
{
    (void)root;
    return false;
}

bool irq_start(void)
{
    return true;
}

bool irq_has_pic(void)
{
    return true;
}

void irq_unmask(unsigned line)
{
    (void)line;
}

irq_timer_done *irq_done_timer(void)
{
    return pic_eoi_timer;
}

void pic_eoi_timer(void)
{
}

bool pit_exists(void)
{
    return true;
}

/* Where the kernel has a tick, it comes with the samples' timer. */
void pit_start(uint32_t divisor)
{
    (void)divisor;
}

void pit_once(uint32_t counts)
{
    (void)counts;
}

void pit_stop(void)
{
}

/* ---- faults, and the end */

#define VECTOR_PAGE_FAULT 14u
#define VECTOR_INVALID_OPCODE 6u
#define VECTOR_DIVIDE_ERROR 0u
#define VECTOR_ALIGNMENT 17u

static unsigned vector_of(int number)
{
    switch (number) {
    case SIGILL:
        return VECTOR_INVALID_OPCODE;
    case SIGFPE:
        return VECTOR_DIVIDE_ERROR;
    case SIGBUS:
        return VECTOR_ALIGNMENT;
    default:
        return VECTOR_PAGE_FAULT;
    }
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const struct arch_registers registers = {
        .pc = (uintptr_t)r[PC],
        .sp = (uintptr_t)r[SP],
        .fp = (uintptr_t)r[FP],
        .flags = (uintptr_t)r[REG_EFL],
#ifdef __x86_64__
        .ax = (uintptr_t)r[REG_RAX],
        .bx = (uintptr_t)r[REG_RBX],
        .cx = (uintptr_t)r[REG_RCX],
        .dx = (uintptr_t)r[REG_RDX],
        .si = (uintptr_t)r[REG_RSI],
        .di = (uintptr_t)r[REG_RDI],
        .r8 = (uintptr_t)r[REG_R8],
        .r9 = (uintptr_t)r[REG_R9],
        .r10 = (uintptr_t)r[REG_R10],
        .r11 = (uintptr_t)r[REG_R11],
        .r12 = (uintptr_t)r[REG_R12],
        .r13 = (uintptr_t)r[REG_R13],
        .r14 = (uintptr_t)r[REG_R14],
        .r15 = (uintptr_t)r[REG_R15],
#else
        .ax = (uintptr_t)r[REG_EAX],
        .bx = (uintptr_t)r[REG_EBX],
        .cx = (uintptr_t)r[REG_ECX],
        .dx = (uintptr_t)r[REG_EDX],
        .si = (uintptr_t)r[REG_ESI],
        .di = (uintptr_t)r[REG_EDI],
#endif
        .vector = vector_of(number),
        .error = (uintptr_t)r[REG_ERR],
        .fault_address = (uintptr_t)info->si_addr,
    };

    kernel_exception(&registers);
}

/* A second one ends a service that never gets to its loop. */
static void on_end(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    ending = number;
    signal(number, SIG_DFL);
}

static bool end_waits(void)
{
    return ending != 0;
}

/* The last report needs the heap, so not in the handler. */
static void end_turn(void)
{
    if (ending != 0)
        kernel_exit(0);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags =
                                   SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGPROF);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    if (sigaction(number, &action, NULL) != 0)
        panic("a signal cannot be handled");
}

void hosted_signals_start(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    static unsigned char stack[SIGNAL_STACK_BYTES];
    static struct loop_source source = {.waiting = end_waits, .turn = end_turn};
    const stack_t signal_stack = {.ss_sp = stack, .ss_size = sizeof stack};

    if (!HAS_SANITIZER && sigaltstack(&signal_stack, NULL) != 0)
        panic("no stack for signals");
    handle(SIGPROF, on_tick);
    for (size_t i = 0; !HAS_SANITIZER && i < sizeof faults / sizeof *faults;
         i++)
        handle(faults[i], on_fault);
    handle(SIGINT, on_end);
    handle(SIGTERM, on_end);
    signal(SIGPIPE, SIG_IGN);
    loop_add(&source);
}
