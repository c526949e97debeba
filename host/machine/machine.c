/* SPDX-License-Identifier: Apache-2.0 */
/* What all machines have in common. */

#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

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

const uint8_t *machine_window(const struct machine_cpu *cpu, uint64_t address,
                              size_t bytes)
{
    uint64_t offset = address - cpu->window;

    if (address < cpu->window || bytes > cpu->window_bytes ||
        offset > cpu->window_bytes - bytes)
        return NULL;
    return cpu->bytes + offset;
}

const char *machine_reason_text(const struct machine *machine)
{
    static char text[128];

    switch (machine->reason) {
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
    case MACHINE_INTERRUPTED:
        return "interrupted before the stub answered";
    case MACHINE_ONE_CPU:
        return "there are several CPUs, and the stub refuses to show one of "
               "them (Hg)";
    case MACHINE_REFUSED:
        snprintf(text, sizeof text, "a call was refused: %s",
                 strerror(machine->error));
        return text;
    }
    return "it is connected";
}
