/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Executes commands. Each is answered with one line, "ok" or "error", so that a
 * script knows when the command was executed and with what result.
 */

#include "base/busy.h"
#include "base/cpu.h"
#include "control/control.h"
#include "control/command.h"

#include <prof/error.h>
#include <prof/format.h>
#include <prof/loop_stats.h>
#include <prof/transport.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/text.h>
#include <prof/trace.h>

#define READ_BYTES 64u /* at a time, so that garbage costs little */

static struct prof_command_line line; /* the one being received */

static void write_error(const char *why)
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

/* Answers "ok COMMAND"; after start and rate, also the rate now in force, which
 * may differ from the one requested. */
static void write_ok(const struct prof_command *command)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_format(&out, PROF_ANSWER_MARK "ok %s", line.text);
    if (command->kind == PROF_COMMAND_RATE ||
        command->kind == PROF_COMMAND_START)
        prof_text_format(&out, " at %.3u Hz", prof_rate_mhz());
    prof_text_char(&out, '\n');
    prof_text_flush(&out);
}

static int run_trace(uint32_t value)
{
    if (value == PROF_COMMAND_DUMP)
        return prof_trace_dump();
    return value != 0 ? prof_trace_command_on()
                      : prof_trace_set_mode(PROF_TRACE_OFF);
}

static int run_loop(uint32_t value)
{
    if (!prof_loop_is_on())
        return PROF_ELOOP;
    if (value == PROF_COMMAND_LOOP_RESET)
        prof_loop_reset();
    else
        prof_loop_report(prof_options()->loop_rows);
    return PROF_OK;
}

static int run_causal(uint32_t value)
{
    if (!PROF_WITH_CAUSAL)
        return PROF_EABSENT;
    if (value == PROF_COMMAND_CAUSAL_START)
        return prof_causal_begin();
    if (value == PROF_COMMAND_CAUSAL_STOP)
        prof_causal_stop();
    else
        prof_causal_report();
    return PROF_OK;
}

static int run_target(const char *name)
{
    return PROF_WITH_CAUSAL ? prof_causal_want(name) : PROF_EABSENT;
}

static int run_command(const struct prof_command *command)
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
    case PROF_COMMAND_TRACE:
        return run_trace(command->value);
    case PROF_COMMAND_LOOP:
        return run_loop(command->value);
    case PROF_COMMAND_CAUSAL:
        return run_causal(command->value);
    case PROF_COMMAND_TARGET:
        return run_target(command->name);
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

void prof_command_forget(void)
{
    line = (struct prof_command_line){0};
}

bool prof_command_byte(uint8_t byte)
{
    struct prof_command command;
    int error;

    if (!prof_command_add(&line, byte))
        return false;
    prof_enter();
    command = prof_command(line.text);
    if (line.too_long) {
        write_error("too long for a command");
    } else if (command.kind == PROF_COMMAND_BAD) {
        write_error(command.error);
    } else if (command.kind != PROF_COMMAND_NONE) {
        error = run_command(&command);
        if (error != PROF_OK)
            write_error(prof_strerror(error));
        else
            write_ok(&command);
    }
    prof_leave();
    return line.used != 0;
}

/* Whether what comes now is the rest of a line that is of no use. */
static bool drops_rest(void)
{
    return line.too_long && !line.complete;
}

bool prof_command_read(int (*receive)(void), uint32_t drop_cycles)
{
    uint64_t begin = prof_tsc();
    uint32_t bytes = 0;
    bool came = false;

    while (drops_rest() ? prof_tsc() - begin < drop_cycles
                        : bytes < READ_BYTES) {
        int byte = receive();

        if (byte < 0 && !drops_rest())
            break;
        if (byte < 0)
            continue;
        came = true;
        bytes++;
        if (prof_command_byte((uint8_t)byte))
            break;
    }
    return came;
}
