/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_BEGIN_H
#define PROF_BEGIN_H

/*
 * For kernels that want to do little: prof_begin() is all of the set-up, and
 * prof_poll() (<prof/poll.h>) all of the rest.
 *
 *     static const struct prof_config config = {
 *         .tick = {.kind = PROF_TICK_OWN_PIT, .vector = 34},
 *         .text = {(uintptr_t)code_begin, (uintptr_t)code_end},
 *     };
 *
 *     prof_begin(&config);
 *     for (;;) {
 *         prof_poll();
 *         ...
 *     }
 *
 * In a header, so that an image which does not call it has none of its memory.
 */

#include <prof/error.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/symbols.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens the image's symbol table (`parasite embed`), gives the profiler memory
 * of its own, PROF_MEMORY_DEFAULT and, where (config) has no pool,
 * PROF_POOL_DEFAULT, and calls prof_init() and, unless prof.start=off,
 * prof_start(). If one of them fails, a line says why. To be called in one
 * place, once.
 *
 * Contexts: as prof_start(). Returns 0 or what has failed.
 */
static inline int prof_begin(const struct prof_config *config)
{
    static unsigned char memory[PROF_MEMORY_DEFAULT]
        __attribute__((aligned(16)));
    static unsigned char pool[PROF_POOL_DEFAULT] __attribute__((aligned(16)));
    struct prof_config whole = *config;
    const char *why;
    int error;

    if (whole.pool_bytes == 0) {
        whole.pool = pool;
        whole.pool_bytes = sizeof pool;
    }
    (void)prof_symbols_embedded();
    if (whole.build_id_bytes == 0)
        whole.build_id = prof_symbols_build_id(&whole.build_id_bytes);
    error = prof_init(memory, sizeof memory, &whole);
    if (error == 0 && prof_options()->start)
        error = prof_start();
    if (error == 0)
        return 0;
    prof_port_write("prof: not sampling: ", 20);
    /* in a loop that no compiler turns into a call of strlen() */
    for (why = prof_strerror(error); *why != '\0'; why++)
        prof_port_write(why, 1);
    prof_port_write("\n", 1);
    return error;
}

#ifdef __cplusplus
}
#endif

#endif
