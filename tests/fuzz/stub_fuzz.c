/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds any bytes to whoever speaks with a stub for GDB. Whatever a stub sends,
 * the conversation ends with a reason, and nothing is read beyond what came.
 */

#include "fuzz.h"

#include "gdb/stub.h"

#include <sys/socket.h>
#include <unistd.h>

static void look(const struct stub *stub)
{
    require(stub->machine.cpu_count <= MACHINE_CPUS_MAX);
    for (size_t i = 0; i < stub->machine.cpu_count; ++i)
        require(stub->machine.cpus[i].window_bytes <= MACHINE_WINDOW_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct stub stub;
    int ends[2];

    require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    require(write(ends[1], data, bytes) == (ssize_t)bytes);
    shutdown(ends[1], SHUT_WR);
    if (stub_begin(&stub, ends[0], 1)) {
        machine_continue(&stub.machine);
        for (int i = 0; i < 4 && machine_stop(&stub.machine) != MACHINE_ENDED;
             ++i) {
            look(&stub);
            stub.machine.cpus[0].guess = 0x1000;
            stub.machine.cpus[0].guess_bytes = 64;
            machine_read(&stub.machine, 0, 0x8000, 256);
            machine_is_halted(&stub.machine, 0);
            machine_continue(&stub.machine);
        }
    }
    require(stub.machine.reason != MACHINE_SILENT);
    machine_end(&stub.machine);
    close(ends[1]);
    return 0;
}
