/* SPDX-License-Identifier: Apache-2.0 */

#include "metric_text.h"

#include <kernel/clock.h>

void metric_describe(struct http_text *text, const char *name, const char *type,
                     const char *help)
{
    http_text_print(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
                    type);
}

void metric_one(struct http_text *text, const char *name, const char *type,
                const char *help, uint64_t value)
{
    metric_describe(text, name, type, help);
    http_text_print(text, "%s %llu\n", name, (unsigned long long)value);
}

/* In two steps, because cycles times a billion overflows 64 bits. */
void metric_seconds(struct http_text *text, const char *name, uint64_t cycles)
{
    uint64_t hz = clock_tsc_hz();

    http_text_print(text, "%s %llu.%09llu\n", name,
                    (unsigned long long)(cycles / hz),
                    (unsigned long long)(cycles % hz * NS_PER_S / hz));
}

void metric_time(struct http_text *text, const char *name, const char *type,
                 const char *help, uint64_t cycles)
{
    metric_describe(text, name, type, help);
    metric_seconds(text, name, cycles);
}
