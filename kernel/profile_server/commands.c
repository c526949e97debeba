/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands from the network. What the profiler prints while one runs is kept,
 * in memory that was allocated before, and sent afterwards; the console has it,
 * too.
 */

#include "internal.h"

#include "../prof_transports.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_MAX 65536u /* bytes of what one command prints */
#define ANSWER_MAX 512u   /* of its last line */
#define COMMAND_MAX 256u  /* of a command; the profiler takes fewer */
#define TEXT "text/plain; charset=utf-8"

static const char rest_cut[] = "... the console has all of it\n";

/* What the command that runs has printed. */
static struct {
    char *bytes;
    size_t count;
    bool cut; /* there was more */
    char answer[ANSWER_MAX];
    size_t answer_count;
} output;

static void keep(const char *text, size_t count)
{
    size_t room = OUTPUT_MAX - sizeof rest_cut - ANSWER_MAX - output.count;

    if (count > room) {
        output.cut = true;
        count = room;
    }
    memcpy(output.bytes + output.count, text, count);
    output.count += count;
}

static bool keep_answer(const void *line, size_t count)
{
    output.answer_count = count < ANSWER_MAX ? count : ANSWER_MAX;
    memcpy(output.answer, line, output.answer_count);
    return true;
}

/* Runs a command. What it has printed is in `output`, to be freed; false: there
 * is no memory for it, and it was not executed. */
static bool run_command(const char *line, size_t count)
{
    output.bytes = malloc(OUTPUT_MAX);
    output.count = output.answer_count = 0;
    output.cut = false;
    if (output.bytes == NULL)
        return false;
    prof_transports_command(line, count, keep, keep_answer);
    if (!output.cut)
        return true;
    memcpy(output.bytes + output.count, rest_cut, sizeof rest_cut - 1);
    output.count += sizeof rest_cut - 1;
    memcpy(output.bytes + output.count, output.answer, output.answer_count);
    output.count += output.answer_count;
    return true;
}

static bool was_refused(void)
{
    static const char error[] = "\n" PROF_ANSWER_MARK "error";

    return output.answer_count >= sizeof error - 1 &&
           memcmp(output.answer, error, sizeof error - 1) == 0;
}

/* ---- one by one */

void profile_tell(struct http_client *client, const char *query)
{
    char command[COMMAND_MAX];

    if (!http_query(query, "command", command, sizeof command) ||
        command[0] == '\0') {
        http_refuse_because(client, 400, "say which: /tell?command=start\n");
        return;
    }
    for (char *at = command; *at != '\0'; at++)
        if (*at == '+' || *at == '\n' || *at == '\r')
            *at = ' ';
    if (!run_command(command, strlen(command))) {
        http_refuse(client, 503, "");
        return;
    }
    http_send(client, was_refused() ? 400 : 200, TEXT, "", output.bytes,
              output.count, output.bytes);
}

/* ---- on a connection of their own */

size_t profile_command_bytes(const char *bytes, size_t count)
{
    const char *end = memchr(bytes, '\n', count);

    if (end != NULL)
        return (size_t)(end - bytes) + 1;
    return count < HTTP_HEAD_MAX ? 0 : count; /* which no line has */
}

static size_t receive_command(void *client, const char *bytes, size_t count)
{
    size_t line = profile_command_bytes(bytes, count);

    if (line == 0)
        return 0;
    if (!run_command(bytes, line))
        return line; /* it is sent again if it is not answered */
    http_say(client, output.bytes, output.count);
    return line;
}

static void stopped(void *client)
{
    (void)client;
}

void profile_commands(struct http_client *client)
{
    static const struct http_upgrade upgrade = {receive_command, stopped};

    http_upgrade(client, &upgrade, client);
}
