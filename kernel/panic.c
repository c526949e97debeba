/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The crash report of an image: reason, location, registers and a backtrace
 * with function names.
 *
 * Nothing here uses the heap or trusts the stack. A frame is read only if all
 * of it lies within a known stack and above the previous one, and its return
 * address must lie within the image's code. If the walk ends early, the last
 * line says why. A panic during a panic ends the image at once. As that may
 * happen at any point, each line is output as soon as it is complete.
 */

#include <kernel/console.h>
#include <kernel/panic.h>

#include "console.h"
#include "debug_exit.h"
#include "panic_stacks.h"
#include "prof_port.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/cpus.h>
#include <arch/trap.h>

#include <prof/frame.h>
#include <prof/name.h>
#include <prof/origin.h>
#include <prof/symbols.h>
#include <prof/text.h>

#include <stdbool.h>

#define FRAMES_MAX 64 /* lines of a backtrace */
#define DIGITS ((unsigned)(2 * sizeof(uintptr_t)))

bool (*panic_find_stack)(uintptr_t address, struct panic_stack *stack);

static int depth;           /* number of panics */
static unsigned running_on; /* CPUs that could not be stopped */

static void end_line(struct prof_text *out)
{
    prof_text_char(out, '\n');
    prof_text_flush(out);
}

/* Writes (why). Ends the image if this is a panic during a panic. */
static void begin_panic(struct prof_text *out, const char *why)
{
    arch_interrupts_off();
    running_on = arch_cpus_stop_others();
    console_seize();
    prof_text_open(out, console_write);
    prof_text_string(out, "\npanic: ");
    if (++depth > 1) {
        prof_text_string(out, "another panic while panicking: ");
        prof_text_string(out, why);
        end_line(out);
        console_finish();
        debug_exit(PANIC_EXIT_CODE);
        arch_stop();
    }
    prof_text_string(out, why);
}

static void finish(struct prof_text *out) __attribute__((noreturn));

static void finish(struct prof_text *out)
{
    prof_text_string(out, "panic: the image ends here");
    end_line(out);
    prof_port_panic(PANIC_EXIT_CODE);
    console_finish();
    debug_exit(PANIC_EXIT_CODE);
    arch_stop();
}

/* "  #3  0x00101234  name + 0x12". A return address may belong to the next
 * function if the call was the last instruction: hence (address - returned). */
static void write_call(struct prof_text *out, unsigned number,
                       uintptr_t address, bool returned)
{
    struct prof_symbol symbol;

    address = prof_origin(address);
    prof_text_string(out, "  #");
    prof_text_decimal(out, number, 0);
    prof_text_column(out, 6);
    prof_text_hex(out, address, DIGITS);
    prof_text_string(out, "  ");
    if (prof_symbol_find(address - returned, &symbol)) {
        prof_name_write(out, &symbol, 0);
        prof_text_string(out, " + ");
        prof_text_hex(out, address - symbol.start, 0);
    } else {
        prof_text_string(out, "?");
    }
    end_line(out);
}

static bool in_text(uintptr_t address)
{
    return address > (uintptr_t)text_begin && address <= (uintptr_t)text_end;
}

static bool find_stack(uintptr_t address, struct panic_stack *stack)
{
#if ARCH_CPUS_MAX > 1
    struct arch_region of_cpu;

    if (arch_cpu_stack(address, &of_cpu)) {
        *stack = (struct panic_stack){of_cpu.begin, of_cpu.end, NULL};
        return true;
    }
#endif
    return panic_find_stack != NULL && panic_find_stack(address, stack);
}

/* The end of the stack that contains (address), or 0. */
static uintptr_t stack_end(uintptr_t address)
{
    struct panic_stack stack;

    if (address >= (uintptr_t)boot_stack_bottom &&
        address < (uintptr_t)boot_stack_top)
        return (uintptr_t)boot_stack_top;
    if (address >= (uintptr_t)fault_stack_bottom &&
        address < (uintptr_t)fault_stack_top)
        return (uintptr_t)fault_stack_top;
    if (find_stack(address, &stack) && address >= stack.begin)
        return stack.end;
    return 0;
}

/* Goes on to the next frame. Returns NULL, or why it must not be read. */
static const char *step(struct prof_frame_walk *walk, uintptr_t *caller)
{
    uintptr_t end = stack_end(walk->fp);

    walk->last = end - 2 * sizeof end;
    if (end != 0 && prof_frame_step(walk, caller))
        return NULL;
    if (walk->fp % sizeof end != 0)
        return "frame pointer not aligned";
    if (end == 0 || walk->fp > walk->last)
        return "frame pointer outside all stacks";
    return "frame pointer not increasing";
}

/* Prints the callers from (fp) up and, if the walk ends early, the reason. */
static void write_callers(struct prof_text *out, uintptr_t fp)
{
    struct prof_frame_walk walk = {.fp = fp};
    const char *why = NULL;
    uintptr_t caller;
    unsigned number;

    for (number = 1; walk.fp != 0 && number < FRAMES_MAX; number++) {
        why = step(&walk, &caller);
        if (why != NULL || caller == 0)
            break;
        if (!in_text(caller)) {
            why = "return address outside the code";
            break;
        }
        write_call(out, number, caller, true);
        fp = walk.fp;
    }
    if (number == FRAMES_MAX)
        why = "too many frames";
    if (why == NULL)
        return;
    prof_text_string(out, "  backtrace incomplete: ");
    prof_text_string(out, why);
    prof_text_string(out, " (");
    prof_text_hex(out, fp, DIGITS);
    prof_text_char(out, ')');
    end_line(out);
}

static void write_register(struct prof_text *out, const char *what,
                           uintptr_t value)
{
    prof_text_string(out, "  ");
    prof_text_string(out, what);
    prof_text_char(out, ' ');
    prof_text_hex(out, value, DIGITS);
}

static void write_registers(struct prof_text *out,
                            const struct arch_registers *r)
{
    const struct {
        const char *name;
        uintptr_t value;
    } rows[] = {
        {"pc", r->pc},
        {"sp", r->sp},
        {"fp", r->fp},
        {"fl", r->flags},
        {"ax", r->ax},
        {"bx", r->bx},
        {"cx", r->cx},
        {"dx", r->dx},
        {"si", r->si},
        {"di", r->di},
        {"c2", r->fault_address},
        {"er", r->error},
#ifdef __x86_64__
        {"r8", r->r8},
        {"r9", r->r9},
        {"ra", r->r10},
        {"rb", r->r11},
        {"rc", r->r12},
        {"rd", r->r13},
        {"re", r->r14},
        {"rf", r->r15},
#endif
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_register(out, rows[i].name, rows[i].value);
        if (i % 4 == 3)
            end_line(out);
    }
}

#define VECTOR_DOUBLE_FAULT 8
#define VECTOR_PAGE_FAULT 14

static bool is_in(uintptr_t address, const char *begin_at, const char *end_at)
{
    return address >= (uintptr_t)begin_at && address < (uintptr_t)end_at;
}

/* Whether it is in the unmapped page below the boot stack, or a task's. */
static bool in_guard(uintptr_t address)
{
    uintptr_t guard_end = (uintptr_t)boot_stack_bottom;
    struct panic_stack stack;

    if (find_stack(address, &stack))
        guard_end = stack.begin;
    return address < guard_end && guard_end - address <= 4096;
}

/* "  on CPU 2", unless it is the first; how many others go on; and "  in task
 * NAME", if (sp) or the address of a fault is in a task's stack. */
static void write_place(struct prof_text *out, uintptr_t sp, uintptr_t fault)
{
    struct panic_stack stack;

    if (arch_cpu_number() != 0) {
        prof_text_string(out, "  on CPU ");
        prof_text_decimal(out, arch_cpu_number(), 0);
        end_line(out);
    }
    if (running_on != 0) {
        prof_text_string(out, "  CPUs that go on, as they did not stop: ");
        prof_text_decimal(out, running_on, 0);
        end_line(out);
    }
    if ((!find_stack(sp, &stack) && !find_stack(fault, &stack)) ||
        stack.name == NULL)
        return;
    prof_text_string(out, "  in task ");
    prof_text_string(out, stack.name);
    end_line(out);
}

/*
 * The likely cause of the fault, from its address. On i386 a page fault whose
 * frame does not fit on the stack becomes a double fault; CR2 is still valid.
 */
static const char *meaning(const struct arch_registers *r)
{
    bool page_fault = r->vector == VECTOR_PAGE_FAULT;

    if ((page_fault || r->vector == VECTOR_DOUBLE_FAULT) &&
        in_guard(r->fault_address))
        return "stack overflow";
    if (!page_fault)
        return NULL;
    if (r->fault_address < 4096)
        return "null pointer dereference";
    if (r->pc == r->fault_address)
        return "execution of data";
    if (is_in(r->fault_address, text_begin, text_end))
        return "write to code";
    if (is_in(r->fault_address, rodata_begin, rodata_end))
        return "write to read-only data";
    return NULL;
}

void kernel_exception(const struct arch_registers *registers)
{
    const char *why = meaning(registers);
    struct prof_text out;

    begin_panic(&out, arch_exception_name((unsigned)registers->vector));
    if (why != NULL) {
        prof_text_string(&out, ", ");
        prof_text_string(&out, why);
    }
    end_line(&out);
    write_place(&out, registers->sp, registers->fault_address);
    write_registers(&out, registers);
    write_call(&out, 0, registers->pc, false);
    write_callers(&out, registers->fp);
    finish(&out);
}

void panic_at(const char *file, int line, const char *why)
{
    struct prof_text out;

    begin_panic(&out, why);
    prof_text_string(&out, " at ");
    prof_text_string(&out, file);
    prof_text_char(&out, ':');
    prof_text_decimal(&out, (uint64_t)line, 0);
    end_line(&out);
    write_place(&out, (uintptr_t)__builtin_frame_address(0), 0);
    write_call(&out, 0, (uintptr_t)__builtin_return_address(0), true);
    write_callers(&out, *(uintptr_t *)__builtin_frame_address(0));
    finish(&out);
}
