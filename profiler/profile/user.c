/* SPDX-License-Identifier: Apache-2.0 */

/* The names of address spaces; see user.h. */

#include "profile/user.h"

#include "base/alloc.h"

#include <stddef.h>

#if !PROF_WITH_USER
#error "this is compiled only with user mode; see tools/build/sources.py"
#endif

typedef char space_name[PROF_SPACE_NAME_BYTES];

static space_name *names; /* PROF_SPACES, once one was given */
static uint32_t changes;

static bool are_there(void)
{
    if (names != NULL)
        return true;
    names = prof_alloc(PROF_SPACES * sizeof *names);
    for (uint32_t i = 0; names != NULL && i < PROF_SPACES; i++)
        names[i][0] = '\0';
    return names != NULL;
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
    changes++;
}

const char *prof_user_name(uint32_t number)
{
    return names == NULL ? "" : names[number];
}

uint32_t prof_user_changes(void)
{
    return changes;
}

void prof_user_write(struct prof_text *out, uintptr_t address)
{
    uint32_t number = (uint32_t)(address - PROF_USER_BASE);

    prof_text_string(out, "[user mode");
    if (prof_user_name(number)[0] != '\0') {
        prof_text_string(out, ": ");
        prof_text_string(out, prof_user_name(number));
    } else if (number != 0) {
        prof_text_string(out, ": space ");
        prof_text_decimal(out, number, 0);
    }
    prof_text_char(out, ']');
}
