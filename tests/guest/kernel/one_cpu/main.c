/* SPDX-License-Identifier: Apache-2.0 */
/* What kernel/cpu.h promises in an image for one CPU, which is the only one and
 * sends messages to itself. */

#include "guest/tap.h"

#include <kernel/cpu.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <string.h>

static char order[16];

static void note(void *context)
{
    order[strlen(order)] = *(const char *)context;
}

/* Sends its own message again, once. */
static struct cpu_message again;

static void send_again(void *context)
{
    static bool sent;

    note(context);
    if (!sent)
        cpu_send(0, &again);
    sent = true;
}

static const struct promise_producer nobody = {.kind = PROF_TRACE_PROMISE};

int service_main(void)
{
    struct cpu_message one = {.function = note, .context = "1"};
    struct cpu_resolve resolve;
    struct promise *promise = promise_new(&nobody, NULL, "value");

    tap_plan(6);
    tap_ok(cpu_count() == 1 && cpu_number() == 0, "there is CPU 0");
    again = (struct cpu_message){.function = send_again, .context = "2"};
    cpu_send(0, &one);
    cpu_send(0, &again);
    tap_ok(cpu_call(0, note, "3"), "there is memory for a call");
    tap_ok(order[0] == '\0', "nothing is called by who sends");
    loop_wait();
    loop_wait();
    tap_ok(strcmp(order, "1232") == 0,
           "all is called in order, also what is sent by one of them");
    cpu_resolve(&resolve, promise, 7);
    tap_ok(promise_state(promise) == PROMISE_PENDING, "a promise waits, too");
    loop_wait();
    tap_ok(promise_result(promise).value == 7, "and is resolved by the loop");
    promise_free(promise);
    return tap_end();
}
