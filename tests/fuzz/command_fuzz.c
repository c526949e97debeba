/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds any bytes to the reader of commands. Whatever comes in, a line stays
 * within its bounds and means what its words say, or is bad and says why.
 */

#include "fuzz.h"

#include "control/command.h"

static void look(const struct prof_command_line *line)
{
    struct prof_command command = prof_command(line->text);

    require(strlen(line->text) == line->used);
    require(line->used <= PROF_COMMAND_MAX);
    require((command.kind == PROF_COMMAND_BAD) == (command.error != NULL));
    require(command.kind <= PROF_COMMAND_BAD);
    if (command.kind == PROF_COMMAND_RATE)
        require(command.value >= 1 && command.value <= 1000000000);
    if (command.kind == PROF_COMMAND_DEPTH)
        require(command.value <= 127);
    if (command.kind == PROF_COMMAND_START)
        require(strstr(line->text, "start") != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct prof_command_line line = {0};

    for (size_t i = 0; i < bytes; i++)
        if (prof_command_add(&line, data[i]))
            look(&line);
    if (prof_command_add(&line, '\n'))
        look(&line);
    return 0;
}
