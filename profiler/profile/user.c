/* SPDX-License-Identifier: Apache-2.0 */

/* The names of address spaces; see user.h. */

#include "profile/user.h"

#if !PROF_WITH_USER
#error "this is compiled only with user mode; see tools/build/sources.py"
#endif

static char names[PROF_SPACES][PROF_SPACE_NAME_BYTES];
static uint32_t changes;

void prof_space_name(uint32_t number, const char *name)
{
    uint32_t bytes = 0;

    if (number == 0 || number >= PROF_SPACES)
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
    return names[number];
}

uint32_t prof_user_changes(void)
{
    return changes;
}

void prof_user_write(struct prof_text *out, uintptr_t address)
{
    uint32_t number = (uint32_t)(address - PROF_USER_BASE);

    prof_text_string(out, "[user mode");
    if (names[number][0] != '\0') {
        prof_text_string(out, ": ");
        prof_text_string(out, names[number]);
    } else if (number != 0) {
        prof_text_string(out, ": space ");
        prof_text_decimal(out, number, 0);
    }
    prof_text_char(out, ']');
}
