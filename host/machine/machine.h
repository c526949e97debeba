/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

/*
 * A guest as whoever stops it sees it: the stub of a VMM (gdb/stub.h), or Xen
 * (xen/xen.h). It runs or is stopped:
 *
 *     machine_continue()                the guest runs
 *     machine_stop()                    all CPUs, and their registers
 *     machine_read() ...                memory, into a CPU's window
 *     machine_continue()
 *     ...
 *     machine_end()
 */

#include "machine/registers.h"

#define MACHINE_CPUS_MAX 256u
#define MACHINE_WINDOW_MAX 2048u /* QEMU's stub reads no more at a time */

/* Why nothing more can be had of it. */
enum machine_reason {
    MACHINE_LIVES,
    MACHINE_EXITED,      /* the guest has ended */
    MACHINE_GONE,        /* there is nobody to ask any more */
    MACHINE_SILENT,      /* no answer in time */
    MACHINE_NONSENSE,    /* too many answers that mean nothing */
    MACHINE_INTERRUPTED, /* by a signal, before an answer came */
    MACHINE_ONE_CPU,     /* there are several, and one of them is shown */
    MACHINE_REFUSED,     /* by who controls it; machine->error */
};

enum machine_stop {
    MACHINE_STOPPED, /* by us */
    MACHINE_HELD,    /* somebody else has paused the guest */
    MACHINE_TORN,    /* what came does not fit together; it is stopped */
    MACHINE_ENDED,
};

struct machine_cpu {
    char thread[24]; /* how a stub calls it */
    bool blocked;    /* halted, if machine->knows_blocked */
    struct registers registers;
    uint64_t window; /* bytes[] were read from there, in this stop */
    size_t window_bytes;
    uint64_t guess; /* from where to read with the registers, 0 = nowhere */
    size_t guess_bytes;
    uint8_t bytes[MACHINE_WINDOW_MAX];
};

struct machine;

struct machine_calls {
    enum machine_stop (*stop)(struct machine *machine);
    bool (*read)(struct machine *machine, size_t cpu, uint64_t address,
                 size_t bytes);
    bool (*is_halted)(struct machine *machine, size_t cpu);
    bool (*registers)(struct machine *machine, size_t cpu,
                      struct register_values *values);
    void (*go_on)(struct machine *machine);
    void (*end)(struct machine *machine);
};

/* The first member of what implements it. */
struct machine {
    const struct machine_calls *calls;
    enum machine_reason reason;
    int error;          /* of MACHINE_REFUSED, an errno */
    bool is_64;         /* its widest mode */
    bool held;          /* by somebody else */
    bool late_stop;     /* it ran while it was read: the sample is torn */
    bool knows_blocked; /* after a stop, which CPUs are halted */
    struct machine_cpu *cpus;
    size_t cpu_count;
    uint64_t torn; /* samples */
};

/* Stops the guest, if it runs, and takes all registers. */
static inline enum machine_stop machine_stop(struct machine *machine)
{
    return machine->calls->stop(machine);
}

/* While it is stopped: reads at most MACHINE_WINDOW_MAX bytes from (address),
 * as (cpu) sees them, into its window. False if there are none. */
static inline bool machine_read(struct machine *machine, size_t cpu,
                                uint64_t address, size_t bytes)
{
    return machine->calls->read(machine, cpu, address, bytes);
}

/* While it is stopped: whether (cpu), which stands after a HLT, is halted. */
static inline bool machine_is_halted(struct machine *machine, size_t cpu)
{
    return machine->calls->is_halted(machine, cpu);
}

/* While it is stopped: all registers of (cpu) that can be had, which takes a
 * question of its own; false if none can. */
static inline bool machine_registers(struct machine *machine, size_t cpu,
                                     struct register_values *values)
{
    return machine->calls->registers(machine, cpu, values);
}

/* Lets the guest run, unless somebody else holds it. */
static inline void machine_continue(struct machine *machine)
{
    machine->calls->go_on(machine);
}

/* Lets it run without us, and frees what belongs to (machine). */
static inline void machine_end(struct machine *machine)
{
    machine->calls->end(machine);
}

/* (bytes) at any (address) of a window; NULL unless all are there. */
const uint8_t *machine_window(const struct machine_cpu *cpu, uint64_t address,
                              size_t bytes);

/* Why nothing more can be had, for a message. */
const char *machine_reason_text(const struct machine *machine);

#endif
