/* SPDX-License-Identifier: Apache-2.0 */
/* A Xen domain: stopped, read, and let go on. */

#include "xen/xen.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"
#include "machine/paging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 16384u    /* each is a mapping, and Linux allows 65,530 */
#define TORN_MAX 64        /* stops in a row */
#define NUMBER_MAX 0x7fefu /* of a domain; above are Xen's own */

/* ---- its RAM */

static void xen_frames_free(struct xen_frames *frames)
{
    for (uint32_t i = 0; i < frames->index.count; ++i) {
        if (frames->runs[i].bytes != NULL)
            frames->calls->unmap(frames->owner, frames->runs[i].bytes,
                                 frames->together);
    }
    index_free(&frames->index);
    memset(&frames->index, 0, sizeof frames->index);
    free(frames->runs);
    frames->runs = NULL;
}

static const struct xen_run *find_run(struct xen_frames *frames, uint64_t run)
{
    uint64_t numbers[XEN_FRAMES_TOGETHER];
    bool is_new;
    uint32_t at;

    if (frames->index.count == RUNS_MAX &&
        index_find(&frames->index, run) == INDEX_NONE)
        xen_frames_free(frames);
    at = index_add(&frames->index, run, &is_new);
    if (is_new) {
        vector_reserve_one(&frames->runs, at, sizeof *frames->runs);
        memset(&frames->runs[at], 0, sizeof frames->runs[at]);
        for (unsigned i = 0; i < frames->together; ++i)
            numbers[i] = run * frames->together + i;
        frames->runs[at].bytes = frames->calls->map(
            frames->owner, numbers, frames->together, frames->runs[at].missing);
    }
    return &frames->runs[at];
}

bool xen_frames_copy(struct xen_frames *frames, uint64_t physical, uint8_t *to,
                     size_t bytes)
{
    uint64_t frame = physical / XEN_FRAME_BYTES;
    size_t offset = physical % XEN_FRAME_BYTES;
    const struct xen_run *run = find_run(frames, frame / frames->together);
    size_t number = frame % frames->together;

    if (run->bytes == NULL || run->missing[number] ||
        bytes > XEN_FRAME_BYTES - offset)
        return false;
    memcpy(to, run->bytes + number * XEN_FRAME_BYTES + offset, bytes);
    return true;
}

/* ---- the machine */

static struct xen *xen_of(struct machine *machine)
{
    return (struct xen *)machine;
}

/* False if the registers of a CPU that is there could not be had. */
static bool take_cpu(struct xen *xen, size_t number)
{
    const struct xen_cpu_state *state = &xen->cpus[number];
    struct machine_cpu *cpu = &xen->machine.cpus[number];

    cpu->window_bytes = 0;
    cpu->blocked = state->blocked || !state->online;
    if (state->error != 0) {
        cpu->registers = (struct registers){.mode = MODE_REAL};
        return !state->online;
    }
    if (xen->about.is_hvm)
        xen_context_hvm(state->context, &cpu->registers);
    else if (xen->about.is_64)
        xen_context_pv64(state->context, &cpu->registers);
    else
        xen_context_pv32(state->context, &cpu->registers);
    return true;
}

static enum machine_stop end_by(struct xen *xen, enum machine_reason reason)
{
    xen->machine.reason = reason;
    return MACHINE_ENDED;
}

/* Xen has no such domain any more, or does not do it for us. */
static enum machine_stop end_by_error(struct xen *xen, int error)
{
    xen->machine.error = error;
    return end_by(xen, error == ESRCH ? MACHINE_EXITED : MACHINE_REFUSED);
}

static enum machine_stop xen_stop(struct machine *machine)
{
    struct xen *xen = xen_of(machine);
    struct xen_state state = {0};
    bool fine = true;
    int error;

    if (machine->reason != MACHINE_LIVES)
        return MACHINE_ENDED;
    if (!xen->paused) {
        error = xen->frames.calls->pause(xen->frames.owner, &state, xen->cpus);
        if (error != 0)
            return end_by_error(xen, error);
        xen->paused = true;
    }
    if (state.ended || (state.shutdown && !xen->takes_dead))
        return end_by(xen, MACHINE_EXITED);
    machine->held = state.paused;
    for (size_t i = 0; i < machine->cpu_count; ++i)
        fine = take_cpu(xen, i) && fine;
    if (fine) {
        xen->torn_in_row = 0;
        return machine->held ? MACHINE_HELD : MACHINE_STOPPED;
    }
    ++machine->torn;
    return ++xen->torn_in_row < TORN_MAX ? MACHINE_TORN
                                         : end_by(xen, MACHINE_NONSENSE);
}

static bool copy_physical(void *owner, uint64_t physical, uint8_t *to,
                          size_t bytes)
{
    return xen_frames_copy(owner, physical, to, bytes);
}

static bool read_window(struct machine *machine, size_t number,
                        uint64_t address, size_t bytes)
{
    struct machine_cpu *cpu = &machine->cpus[number];
    struct xen *xen = xen_of(machine);
    const struct paging_memory memory = {.copy = copy_physical,
                                         .owner = &xen->frames};

    if (bytes > sizeof cpu->bytes)
        bytes = sizeof cpu->bytes;
    cpu->window = address;
    cpu->window_bytes =
        paging_read(&cpu->registers, &memory, address, cpu->bytes, bytes);
    return cpu->window_bytes > 0;
}

static bool is_halted(struct machine *machine, size_t cpu)
{
    return machine->cpus[cpu].blocked;
}

#define PLACE(name, field, offset, bytes) [REGISTER_##name] = {offset, bytes},
static const struct register_layout layout_hvm = {
    .places = {XEN_HVM_REGISTERS(PLACE)}};
static const struct register_layout layout_pv64 = {
    .places = {XEN_PV64_REGISTERS(PLACE)}};
static const struct register_layout layout_pv32 = {
    .places = {XEN_PV32_REGISTERS(PLACE)}};

static bool all_registers(struct machine *machine, size_t cpu,
                          struct register_values *values)
{
    const struct xen *xen = xen_of(machine);

    if (xen->cpus[cpu].error != 0)
        return false;
    if (xen->about.is_hvm)
        registers_read(&layout_hvm, xen->cpus[cpu].context, XEN_HVM_BYTES,
                       values);
    else if (xen->about.is_64)
        registers_read(&layout_pv64, xen->cpus[cpu].context, XEN_PV64_BYTES,
                       values);
    else
        registers_read(&layout_pv32, xen->cpus[cpu].context, XEN_PV32_BYTES,
                       values);
    return true;
}

static void go_on(struct machine *machine)
{
    struct xen *xen = xen_of(machine);
    int error = 0;

    if (xen->paused)
        error = xen->frames.calls->unpause(xen->frames.owner);
    xen->paused = error != 0 && error != ESRCH; /* tried again at the end */
    if (error != 0 && machine->reason == MACHINE_LIVES)
        end_by_error(xen, error);
}

static void xen_end(struct machine *machine)
{
    struct xen *xen = xen_of(machine);

    go_on(machine);
    if (xen->paused)
        log_error("domain %u stays paused: %s; 'xl unpause %u' lets it go on",
                  xen->number, machine_reason_text(machine), xen->number);
    xen->paused = false;
    signals_at_end(NULL);
    xen_frames_free(&xen->frames);
    xen->frames.calls->close(xen->frames.owner);
    free(machine->cpus);
    free(xen->cpus);
    machine->cpus = NULL;
    xen->cpus = NULL;
}

static const struct machine_calls xen_machine = {
    xen_stop, read_window, is_halted, all_registers, go_on, xen_end};

int xen_begin(struct xen *xen, const struct xen_calls *calls, void *owner,
              unsigned number)
{
    struct machine *machine = &xen->machine;
    int error;

    *xen =
        (struct xen){.machine = {.calls = &xen_machine, .knows_blocked = true},
                     .frames = {.calls = calls, .owner = owner},
                     .number = number};
    error = calls->open(owner, number, &xen->about);
    if (error != 0)
        return error;
    if (xen->about.cpus == 0 || xen->about.cpus > MACHINE_CPUS_MAX) {
        calls->close(owner);
        return E2BIG;
    }
    machine->is_64 = xen->about.is_hvm || xen->about.is_64;
    machine->cpu_count = xen->about.cpus;
    machine->cpus = xreallocarray(NULL, xen->about.cpus, sizeof *machine->cpus);
    memset(machine->cpus, 0, xen->about.cpus * sizeof *machine->cpus);
    xen->cpus = xreallocarray(NULL, xen->about.cpus, sizeof *xen->cpus);
    memset(xen->cpus, 0, xen->about.cpus * sizeof *xen->cpus);
    /* frames of a PV guest are the machine's: neighbours are another's */
    xen->frames.together = xen->about.is_hvm ? XEN_FRAMES_TOGETHER : 1;
    return 0;
}

static const char *text_of(int error)
{
    switch (error) {
    case ESRCH:
        return "there is no such domain";
    case EACCES:
        return "this Xen is not of the release that this build is for";
    case ENOENT:
    case ENODEV:
    case ENXIO:
        return "this is no domain of Xen that may control others";
    default:
        return strerror(error);
    }
}

static struct xen *attached;

/* However the process ends: nobody else would let the domain go on. */
static void let_go(void)
{
    if (attached->paused)
        go_on(&attached->machine);
}

void xen_attach(struct xen *xen, const char *target)
{
    const char *digits = target + strlen("xen:");
    const struct xen_calls *calls;
    void *owner;
    char *rest;
    unsigned long number = strtoul(digits, &rest, 10);
    int error;

    if (*digits < '0' || *digits > '9' || *rest != '\0' || number > NUMBER_MAX)
        die_usage("%s: expected xen:DOMID, a number that 'xl list' shows",
                  target);
    calls = xen_calls_here(&owner);
    if (calls == NULL)
        die("%s: this build has no Xen, for it was made without libxen-dev; "
            "gdbsx offers gdb:HOST:PORT",
            target);
    error = xen_begin(xen, calls, owner, (unsigned)number);
    if (error != 0)
        die("%s: %s", target, text_of(error));
    attached = xen;
    signals_at_end(let_go);
}

const char *xen_kind(const struct xen *xen)
{
    if (xen->about.is_hvm)
        return "HVM or PVH";
    return xen->about.is_64 ? "PV, x86_64" : "PV, i386";
}

/* ---- its registers */

#define CR0_PE 1u
#define CR0_PG (1u << 31)
#define CR4_PAE (1u << 5)
#define EFER_LMA (1u << 10)
#define RFLAGS_IF (1u << 9)
#define CS_LONG (1u << 9)
#define CR3_USER 1 /* in which place a PV guest's other tables are */
#define IN_KERNEL (1u << 2)
#define PV64_CS_32 0xe020u /* Xen's flat 32-bit code segment, ring 0 */
#define CS_RING 3u

void xen_context_hvm(const uint8_t *context, struct registers *registers)
{
    *registers = (struct registers){
        .ip = le64(context + XEN_HVM_RIP),
        .sp = le64(context + XEN_HVM_RSP),
        .fp = le64(context + XEN_HVM_RBP),
        .cs = le32(context + XEN_HVM_CS) & 0xffff,
        .cr0 = le64(context + XEN_HVM_CR0),
        .cr3 = le64(context + XEN_HVM_CR3),
        .cr4 = le64(context + XEN_HVM_CR4),
        .efer = le64(context + XEN_HVM_EFER),
        .masked = (le64(context + XEN_HVM_RFLAGS) & RFLAGS_IF) == 0,
    };
    if ((registers->cr0 & CR0_PE) == 0) {
        registers->mode = MODE_REAL;
        registers->ip += le64(context + XEN_HVM_CS_BASE);
    } else if ((registers->efer & EFER_LMA) != 0 &&
               (le32(context + XEN_HVM_CS_ATTRIBUTES) & CS_LONG) != 0) {
        registers->mode = MODE_64;
    } else {
        registers->mode = MODE_32;
    }
}

/* A PV guest sees no control registers but for cr3, and pages by PAE or four
 * levels, whose entries have frames of the machine. */
void xen_context_pv64(const uint8_t *context, struct registers *registers)
{
    uint64_t user = le64(context + XEN_PV64_CR + 8 * CR3_USER);
    bool in_kernel = (le64(context + XEN_PV64_FLAGS) & IN_KERNEL) != 0;

    *registers = (struct registers){
        .mode = MODE_64,
        .ip = le64(context + XEN_PV64_RIP),
        .sp = le64(context + XEN_PV64_RSP),
        .fp = le64(context + XEN_PV64_RBP),
        .cs = le16(context + XEN_PV64_CS),
        .cr0 = CR0_PE | CR0_PG,
        .cr3 = !in_kernel && user != 0 ? user
                                       : le64(context + XEN_PV64_CR + 8 * 3),
        .cr4 = CR4_PAE,
        .efer = EFER_LMA,
    };
    if ((registers->cs & ~(uint64_t)CS_RING) == PV64_CS_32)
        registers->mode = MODE_32;
}

void xen_context_pv32(const uint8_t *context, struct registers *registers)
{
    uint32_t cr3 = le32(context + XEN_PV32_CR + 4 * 3);

    *registers = (struct registers){
        .mode = MODE_32,
        .ip = le32(context + XEN_PV32_EIP),
        .sp = le32(context + XEN_PV32_ESP),
        .fp = le32(context + XEN_PV32_EBP),
        .cs = le16(context + XEN_PV32_CS),
        .cr0 = CR0_PE | CR0_PG,
        /* the upper bits of the frame's number are in the lowest ones */
        .cr3 = (uint64_t)(cr3 >> 12 | cr3 << 20) << 12,
        .cr4 = CR4_PAE,
    };
}
