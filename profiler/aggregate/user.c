/* SPDX-License-Identifier: Apache-2.0 */

#include "aggregate/user.h"

#include "base/alloc.h"
#include "base/busy.h"
#include "stream/put.h"
#include "stream/stream.h"
#include "tick/clock.h"

#include <prof/prof.h>
#include <stddef.h>

typedef char space_name[PROF_SPACE_NAME_BYTES];

static space_name *names; /* PROF_SPACES, once one was given */

static bool are_there(void)
{
    if (names != NULL)
        return true;
    names = prof_alloc(PROF_SPACES * sizeof *names);
    for (uint32_t i = 0; names != NULL && i < PROF_SPACES; i++)
        names[i][0] = '\0';
    return names != NULL;
}

static void send_name(uint32_t number, uint64_t tsc)
{
    struct {
        struct prof_event_space space;
        char text[PROF_SPACE_NAME_BYTES];
    } __attribute__((packed)) event = {.space = {(uint8_t)number}};
    uint32_t bytes = 0;

    while (names[number][bytes] != '\0') {
        event.text[bytes] = names[number][bytes];
        bytes++;
    }
    (void)prof_stream_put(PROF_EVENT_SPACE, tsc, &event,
                          (uint32_t)sizeof event.space + bytes + 1);
}

void prof_user_send(uint64_t tsc)
{
    if (!prof_stream_on() || names == NULL)
        return;
    for (uint32_t i = 1; i < PROF_SPACES; i++)
        if (names[i][0] != '\0')
            send_name(i, tsc);
}

void prof_space_name(uint32_t number, const char *name)
{
    uint32_t bytes = 0;

    if (number == 0 || number >= PROF_SPACES || !are_there())
        return;
    while (name != NULL && name[bytes] != '\0' &&
           bytes < PROF_SPACE_NAME_BYTES - 1) {
        names[number][bytes] = name[bytes];
        bytes++;
    }
    names[number][bytes] = '\0';
    prof_enter();
    if (prof_stream_on() && prof_running()) /* else it is sent at the start */
        send_name(number, prof_clock_of(PROF_CPU_FIRST)->last_tsc);
    prof_leave();
}

void prof_user_write(struct prof_text *out, uintptr_t address)
{
    uint32_t number = (uint32_t)(address - PROF_USER_BASE);

    prof_text_string(out, "[user mode");
    if (names != NULL && names[number][0] != '\0') {
        prof_text_string(out, ": ");
        prof_text_string(out, names[number]);
    } else if (number != 0) {
        prof_text_string(out, ": space ");
        prof_text_decimal(out, number, 0);
    }
    prof_text_char(out, ']');
}
