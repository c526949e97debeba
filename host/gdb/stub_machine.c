/* SPDX-License-Identifier: Apache-2.0 */
/* A stub as a machine. */

#include "gdb/stub.h"

static struct stub *stub_of(struct machine *machine)
{
    return (struct stub *)machine;
}

static enum machine_stop stop(struct machine *machine)
{
    return stub_stop(stub_of(machine));
}

static bool read_window(struct machine *machine, size_t cpu, uint64_t address,
                        size_t bytes)
{
    return stub_read(stub_of(machine), cpu, address, bytes);
}

static bool is_halted(struct machine *machine, size_t cpu)
{
    struct stub *stub = stub_of(machine);

    return !stub->is_qemu || stub_is_halted(stub, cpu);
}

static void go_on(struct machine *machine)
{
    if (machine->late_stop)
        stub_resynchronize(stub_of(machine));
    stub_continue(stub_of(machine));
}

static void end(struct machine *machine)
{
    stub_end(stub_of(machine));
}

const struct machine_calls stub_calls = {stop, read_window, is_halted, go_on,
                                         end};
