/* SPDX-License-Identifier: Apache-2.0 */
/* Promises are CPU 0's: it is sent what another CPU has to say. */

#include <kernel/cpu.h>

static void resolve_here(void *context)
{
    const struct cpu_resolve resolve = *(struct cpu_resolve *)context;

    (void)promise_resolve(resolve.promise, resolve.value);
}

void cpu_resolve(struct cpu_resolve *resolve, struct promise *promise,
                 uintptr_t value)
{
    *resolve = (struct cpu_resolve){
        .message = {.function = resolve_here, .context = resolve},
        .promise = promise,
        .value = value,
    };
    cpu_send(0, &resolve->message);
}
