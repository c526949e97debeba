/* SPDX-License-Identifier: Apache-2.0 */
/* One CPU of a stopped guest. Its stack usually came with the registers, from
 * where the last sample's was; else it is read in one piece, as large as most
 * walks have lately needed. */

#include "attach/sampler.h"

#include "base/log.h"
#include "base/memory.h"

#include <string.h>

#define ALIGN 64u
#define BELOW 512u /* the stack pointer may fall by that much */
#define LEAST 256u
#define MORE 512u /* bytes of each further read */
#define READS_MAX 16u
#define WALKS 64u
#define PAGE 4096u
#define GOLDEN 0x9e3779b9u /* spreads the numbers of pages */
#define WALLS_SHIFT (32 - SAMPLER_WALLS_LOG)
#define HLT 0xf4
#define RESET_VECTOR 0xffff0u /* as ip of a CPU that was never started */

struct reading {
    struct sampler *sampler;
    struct machine *machine;
    size_t cpu;
    unsigned reads;
};

/* Where it is kept that (page) could not be read, such as one above a stack: a
 * stub that cannot read all of a piece reads nothing. */
static uint64_t *wall_of(struct sampler *sampler, uint64_t page)
{
    return &sampler->walls[(uint32_t)(page / PAGE) * GOLDEN >> WALLS_SHIFT];
}

/* How many of (bytes) from (address) are below a page that cannot be read. */
static size_t below_wall(struct sampler *sampler, uint64_t address,
                         size_t bytes)
{
    uint64_t next = (address / PAGE + 1) * PAGE;

    return bytes > next - address && *wall_of(sampler, next) == next
               ? next - address
               : bytes;
}

/* Reads from the shared RAM, unless it is not known where that is. */
static bool fetch_ram(struct sampler *sampler, struct machine_cpu *cpu,
                      uint64_t address, size_t bytes)
{
    bool sure;
    size_t count = ram_read(&sampler->ram, &cpu->registers, address, cpu->bytes,
                            bytes, &sure);

    cpu->window = address;
    cpu->window_bytes = sure ? count : 0;
    return sure;
}

/* Learns from the window, which the VMM has read, where the RAM is. */
static void compare_ram(struct sampler *sampler, const struct machine_cpu *cpu)
{
    if (sampler->ram.bytes == NULL ||
        ram_compare(&sampler->ram, &cpu->registers, cpu->window, cpu->bytes,
                    cpu->window_bytes))
        return;
    log_error("--ram: not the guest's, or in another layout than QEMU's; "
              "stacks are read through the stub");
    ram_close(&sampler->ram);
}

/* Reads from (address), or what is left of its page. */
static bool fetch(struct sampler *sampler, size_t number, uint64_t address,
                  size_t bytes)
{
    struct machine *machine = sampler->machine;
    struct machine_cpu *cpu = &machine->cpus[number];
    size_t page = PAGE - address % PAGE;

    if (sampler->ram.bytes != NULL && fetch_ram(sampler, cpu, address, bytes))
        return cpu->window_bytes > 0;
    if (machine_read(machine, number, address, bytes)) {
        compare_ram(sampler, cpu);
        if (*wall_of(sampler, address + page - PAGE) == address + page - PAGE)
            *wall_of(sampler, address + page - PAGE) = 0;
        return true;
    }
    if (bytes <= page || machine->reason != MACHINE_LIVES ||
        !machine_read(machine, number, address, page))
        return false;
    *wall_of(sampler, address + page) = address + page;
    return true;
}

static bool read_word(void *owner, uint64_t address, unsigned bytes,
                      uint64_t *value)
{
    struct reading *reading = owner;
    struct machine_cpu *cpu = &reading->machine->cpus[reading->cpu];
    const uint8_t *from = machine_window(cpu, address, bytes);

    if (from == NULL && reading->reads++ < READS_MAX &&
        reading->machine->reason == MACHINE_LIVES &&
        fetch(reading->sampler, reading->cpu, address,
              below_wall(reading->sampler, address, MORE)))
        from = machine_window(cpu, address, bytes);
    if (from == NULL)
        return false;
    *value = 0;
    for (unsigned i = bytes; i-- > 0;)
        *value = *value << 8 | from[i];
    return true;
}

/* Reads what is not the stack, of which (cpu)'s window stays as it is. */
static bool read_any(void *owner, uint64_t address, uint8_t *to, size_t count)
{
    struct reading *reading = owner;
    struct machine_cpu *cpu = &reading->machine->cpus[reading->cpu];
    struct machine_cpu kept = *cpu;
    bool fine = reading->machine->reason == MACHINE_LIVES &&
                fetch(reading->sampler, reading->cpu, address, count) &&
                cpu->window_bytes >= count;

    if (fine)
        memcpy(to, cpu->bytes, count);
    *cpu = kept;
    return fine;
}

bool sampler_read(struct sampler *sampler, uint64_t address, uint8_t *to,
                  size_t count)
{
    struct reading reading = {sampler, sampler->machine, 0, 0};

    return read_any(&reading, address, to, count);
}

size_t sampler_read_some(struct sampler *sampler, size_t cpu, uint64_t address,
                         uint8_t *to, size_t count)
{
    struct reading reading = {sampler, sampler->machine, cpu, 0};
    size_t done = 0;

    while (done < count) {
        size_t piece = PAGE - (address + done) % PAGE;

        if (piece > count - done)
            piece = count - done;
        if (!read_any(&reading, address + done, to + done, piece))
            break;
        done += piece;
    }
    return done;
}

bool sampler_after_call(struct sampler *sampler, size_t cpu, uint64_t address)
{
    struct reading reading = {sampler, sampler->machine, cpu, 0};
    const struct unwind_memory memory = {
        read_word, {read_any, &reading}, &reading};

    return unwind_after_call(sampler->unwinder, &memory, address);
}

enum { SEEN_ONCE = 1, SEEN_RUNNING, SEEN_HALTED };

/* Whether (address), of which there is no image, follows a HLT. A halted CPU is
 * always at the same few addresses: each is looked at when it comes again. */
static bool reads_halt(struct sampler *sampler, size_t cpu, uint64_t address)
{
    bool is_new;
    uint32_t number = index_add(&sampler->seen, address, &is_new);
    uint64_t byte = 0;
    struct reading reading = {sampler, sampler->machine, cpu, 0};

    if (is_new) {
        vector_reserve_one(&sampler->seen_states, number, 1);
        sampler->seen_states[number] = SEEN_ONCE;
        return false;
    }
    if (sampler->seen_states[number] == SEEN_ONCE) {
        read_word(&reading, address - 1, 1, &byte);
        sampler->seen_states[number] = byte == HLT ? SEEN_HALTED : SEEN_RUNNING;
    }
    return sampler->seen_states[number] == SEEN_HALTED;
}

static bool is_halted(struct sampler *sampler, size_t cpu)
{
    const struct registers *now = &sampler->machine->cpus[cpu].registers;
    int follows;

    if (sampler->machine->knows_blocked)
        return sampler->machine->cpus[cpu].blocked;
    if (now->mode == MODE_REAL && now->ip == RESET_VECTOR)
        return true;
    follows = unwind_after_halt(sampler->unwinder, now->ip);
    if (follows < 0)
        follows = reads_halt(sampler, cpu, now->ip);
    return follows && machine_is_halted(sampler->machine, cpu);
}

/* Learns from a walk how much the next ones will need, and where. */
static void learn(struct sampler *sampler, struct machine_cpu *cpu,
                  const struct unwind_stack *stack)
{
    uint64_t sp = cpu->registers.sp & ~(uint64_t)(ALIGN - 1);
    size_t bytes = stack->highest > sp ? (size_t)(stack->highest - sp) : 0;

    if (bytes > sampler->deepest && bytes <= MACHINE_WINDOW_MAX)
        sampler->deepest = bytes;
    if (++sampler->walks % WALKS == 0) {
        sampler->stack_bytes = (sampler->deepest + ALIGN - 1) / ALIGN * ALIGN;
        if (sampler->stack_bytes < LEAST)
            sampler->stack_bytes = LEAST;
        sampler->deepest = 0;
    }
    if (cpu->registers.mode == MODE_REAL || sp < BELOW ||
        sampler->ram.bytes != NULL)
        cpu->guess = 0;
    else
        cpu->guess = sp - BELOW;
    cpu->guess_bytes =
        below_wall(sampler, cpu->guess,
                   sampler->stack_bytes + BELOW < MACHINE_WINDOW_MAX
                       ? sampler->stack_bytes + BELOW
                       : MACHINE_WINDOW_MAX);
}

void sampler_unwind(struct sampler *sampler, size_t number,
                    struct unwind_stack *stack)
{
    struct machine *machine = sampler->machine;
    struct machine_cpu *cpu = &machine->cpus[number];
    struct reading reading = {sampler, machine, number, 0};
    const struct unwind_memory memory = {
        read_word, {read_any, &reading}, &reading};
    uint64_t sp = cpu->registers.sp & ~(uint64_t)(sizeof(uint64_t) - 1);

    if (sampler->stack_bytes == 0)
        sampler->stack_bytes = MACHINE_WINDOW_MAX / 2;
    if (cpu->registers.mode != MODE_REAL &&
        machine_window(cpu, sp, ALIGN) == NULL)
        fetch(sampler, number, sp,
              below_wall(sampler, sp, sampler->stack_bytes));
    unwind_walk(sampler->unwinder, &cpu->registers, &memory, sampler->depth,
                stack);
    learn(sampler, cpu, stack);
}

bool sampler_walk(struct sampler *sampler, size_t cpu,
                  struct unwind_stack *stack)
{
    struct reading reading = {sampler, sampler->machine, cpu, 0};
    const struct places_memory memory = {read_any, &reading};

    places_see(unwind_places(sampler->unwinder), cpu,
               &sampler->machine->cpus[cpu].registers, &memory);
    if (is_halted(sampler, cpu))
        return false;
    sampler_unwind(sampler, cpu, stack);
    return true;
}
