/* SPDX-License-Identifier: Apache-2.0 */
/* What all machines have in common. */

#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

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
