/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A command line full of mistakes (append). Each is named in one line (expect)
 * and changes nothing; what is right among them takes effect.
 */

#include <kernel/console.h>
#include <kernel/service.h>
#include <prof/prof.h>
#include <stdlib.h>
#include <string.h>

static long number;

bool service_option(const char *key, const char *value)
{
    char *end;
    long parsed = strtol(value, &end, 10);

    if (strcmp(key, "test.number") != 0 || *end != '\0')
        return false;
    number = parsed;
    return true;
}

int service_main(void)
{
    const struct prof_options *options = prof_options();
    const bool good = options->hz == 1000 && options->top == 7 &&
                      options->every_ms == 0 && options->drain_ms == 0 &&
                      options->weight == PROF_WEIGHT_TIME &&
                      options->depth == PROF_DEPTH_DEFAULT &&
                      options->form == PROF_FORM_SHARES && options->start &&
                      number == 42 && prof_running();

    prof_stop();
    console_line("options: %s", good ? "all as they should be" : "wrong");
    return good ? 0 : 1;
}
