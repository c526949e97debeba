/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to other CPUs in memory of their own. */

#include <kernel/cpu.h>
#include <stddef.h>
#include <stdlib.h>

struct call {
    struct cpu_message message;
    cpu_function *function;
    void *context;
};

static void run_call(void *context)
{
    const struct call call = *(struct call *)context;

    free(context);
    call.function(call.context);
}

bool cpu_call(unsigned cpu, cpu_function *function, void *context)
{
    struct call *call = malloc(sizeof *call);

    if (call == NULL)
        return false;
    *call = (struct call){
        .message = {.function = run_call, .context = call},
        .function = function,
        .context = context,
    };
    cpu_send(cpu, &call->message);
    return true;
}
