/* SPDX-License-Identifier: Apache-2.0 */
#include "guest/word.h"

#include <kernel/service.h>

char guest_word[32];

bool service_option(const char *key, const char *value)
{
    (void)key;
    if (strlen(value) >= sizeof guest_word)
        return false;
    strcpy(guest_word, value);
    return true;
}
