/* SPDX-License-Identifier: Apache-2.0 */
/* What all machines have in common. */

#include "machine/machine.h"

enum machine_stop machine_stop(struct machine *machine)
{
    return machine->calls->stop(machine);
}

bool machine_read(struct machine *machine, size_t cpu, uint64_t address,
                  size_t bytes)
{
    return machine->calls->read(machine, cpu, address, bytes);
}

bool machine_is_halted(struct machine *machine, size_t cpu)
{
    return machine->calls->is_halted(machine, cpu);
}

void machine_continue(struct machine *machine)
{
    machine->calls->go_on(machine);
}

void machine_end(struct machine *machine)
{
    machine->calls->end(machine);
}

const char *machine_reason_text(enum machine_reason reason)
{
    switch (reason) {
    case MACHINE_LIVES:
        break;
    case MACHINE_EXITED:
        return "the guest has ended";
    case MACHINE_GONE:
        return "the connection was closed";
    case MACHINE_SILENT:
        return "the stub does not answer";
    case MACHINE_NONSENSE:
        return "the answers make no sense";
    }
    return "it is connected";
}
