/* SPDX-License-Identifier: Apache-2.0 */

/* trace_lttng LIVES: records these lives with LTTng-UST, and prints the CPU
 * time of an event. */

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "trace_lttng.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t last;

static inline uint32_t create(void)
{
    ++last;
    lttng_ust_tracepoint(parasite, create, last, 1, 1);
    return last;
}

#define CREATE() create()
#define SWITCH(task) lttng_ust_tracepoint(parasite, switch_to, task)
#define TRY_READ(task) lttng_ust_tracepoint(parasite, try_read, task)
#define SUSPEND() lttng_ust_tracepoint(parasite, suspend, 2)
#define WAKE(task) lttng_ust_tracepoint(parasite, wake, task, 0)
#define READ(task) lttng_ust_tracepoint(parasite, read, task)
#define RESOLVE(task) lttng_ust_tracepoint(parasite, resolve, task)
#include "trace_lives.h"

int main(int argc, char **argv)
{
    size_t lives = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    uint64_t begin = cpu_ns();

    if (lives == 0)
        return 2;
    for (size_t done = 0; done < lives; done += LIVES_AT_ONCE)
        some_lives();
    printf("%.2f\n",
           (double)(cpu_ns() - begin) / (double)(lives * EVENTS_OF_A_LIFE));
    return 0;
}
