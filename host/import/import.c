/* SPDX-License-Identifier: Apache-2.0 */
/* Whose trace it is. */

#include "import/import.h"

#include "import/recording.h"

const char *import_name(enum import_format format)
{
    static const char *const names[] = {"", "mirage-profile", "eio-trace"};

    return names[format];
}

enum import_format import_format_of(const uint8_t *bytes, size_t count)
{
    if (eio_is(bytes, count))
        return IMPORT_FUCHSIA;
    return mirage_is(bytes, count) ? IMPORT_MIRAGE : IMPORT_NONE;
}

void import_read(enum import_format format, const uint8_t *bytes, size_t count,
                 struct imported *result)
{
    struct recording recording = {0};

    *result = (struct imported){0};
    recording_begin(&recording);
    if (format == IMPORT_MIRAGE)
        result->unread = mirage_read(&recording, bytes, count);
    else
        result->unread = eio_read(&recording, bytes, count);
    result->events = recording.events;
    recording_end(&recording, &result->bytes, &result->count);
}
