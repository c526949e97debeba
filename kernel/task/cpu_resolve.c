/* SPDX-License-Identifier: Apache-2.0 */
/* A promise is used by its own CPU only: that one is sent what another one has
 * to say. */

#include "internal.h"

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
    cpu_send(promise->cpu, &resolve->message);
}
