/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What commands do. Each is answered with one line, so that whoever sends them
 * from a script knows when it was done and what came of it.
 */

#include "command.h"
#include "control.h"

#include <prof/error.h>
#include <prof/format.h>
#include <prof/out.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/text.h>

static struct prof_command_line line;

static void complain(const char *why)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_string(&out, PROF_ANSWER_MARK "error: ");
    if (line.used != 0) {
        prof_text_char(&out, '"');
        prof_text_string(&out, line.text);
        prof_text_string(&out, line.too_long ? "...\": " : "\": ");
    }
    prof_text_string(&out, why);
    prof_text_char(&out, '\n');
    prof_text_flush(&out);
}

/* "ok" and the command, and for some of them what is now in force. */
static void agree(const struct prof_command *command)
{
    struct prof_text out;
    uint32_t mhz = prof_rate_mhz();

    prof_text_open(&out, prof_port_write);
    prof_text_string(&out, PROF_ANSWER_MARK "ok ");
    prof_text_string(&out, line.text);
    if (command->kind == PROF_COMMAND_RATE ||
        command->kind == PROF_COMMAND_START) {
        prof_text_string(&out, " at ");
        prof_text_decimal(&out, mhz / 1000, 0);
        prof_text_char(&out, '.');
        prof_text_decimal(&out, mhz / 100 % 10, 0);
        prof_text_decimal(&out, mhz / 10 % 10, 0);
        prof_text_decimal(&out, mhz % 10, 0);
        prof_text_string(&out, " Hz");
    }
    prof_text_char(&out, '\n');
    prof_text_flush(&out);
}

/* Does what (command) says; 0 or a negative enum prof_error. */
static int obey(const struct prof_command *command)
{
    switch (command->kind) {
    case PROF_COMMAND_START:
        return prof_start();
    case PROF_COMMAND_STOP:
        prof_stop();
        return PROF_OK;
    case PROF_COMMAND_RATE:
        return prof_set_rate(command->value);
    case PROF_COMMAND_DEPTH:
        return prof_set_depth(command->value);
    case PROF_COMMAND_STACKS:
        return prof_set_depth(command->value != 0 ? prof_options()->depth : 0);
    case PROF_COMMAND_RESET:
        prof_reset();
        return PROF_OK;
    case PROF_COMMAND_HELLO:
        prof_hello();
        return PROF_OK;
    case PROF_COMMAND_REPORT:
        prof_report();
        return PROF_OK;
    case PROF_COMMAND_NONE:
    case PROF_COMMAND_BAD:
        break;
    }
    return PROF_OK;
}

bool prof_command_byte(uint8_t byte)
{
    struct prof_command command;
    int error;

    if (!prof_command_add(&line, byte))
        return false;
    command = prof_command(line.text);
    if (line.too_long) {
        complain("longer than any command");
    } else if (command.kind == PROF_COMMAND_BAD) {
        complain(command.error);
    } else if (command.kind != PROF_COMMAND_NONE) {
        error = obey(&command);
        if (error != PROF_OK)
            complain(prof_strerror(error));
        else
            agree(&command);
    }
    return line.used != 0;
}
