/* SPDX-License-Identifier: Apache-2.0 */
/* parasite tell: commands to a guest that runs, and what it answers. */

#define _GNU_SOURCE /* memmem() */

#include "commands.h"
#include "console.h"
#include "parasite.h"
#include "send.h"
#include "target.h"

#include <argp.h>
#include <ctype.h>
#include <poll.h>
#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 50

struct request {
    const char *target;
    struct sender sender;
    struct scanner scanner;
    struct console console;
    bool binary; /* packets come on that line: it has no text to be shown */
};

static const char help_text[] =
    "Tell a guest that runs what to do, and print what it answers. A COMMAND "
    "is start, stop, rate HZ, depth N, stacks on|off, reset or report."
    "\vTARGET is the line that the guest listens to: with prof.out=uart2 or "
    "virtio the stream's own, otherwise its console (unix:PATH, "
    "tcp:HOST:PORT, or a terminal's name). Of several commands each is sent "
    "when the one before was answered.\n\n"
    "For example:\n"
    "  parasite tell unix:console.sock rate 99 start\n"
    "  parasite tell unix:console.sock report";

static const struct argp_option options[] = {
    {"wait", 'w', "SECONDS", 0, "for an answer (10)", 0},
    {"quiet", 'q', NULL, 0, "do not print the answers", 0},
    {0},
};

/* Whether (word) goes on with the command before it: "rate" "99". */
static bool is_value(const char *word)
{
    return isdigit((unsigned char)*word) || strcmp(word, "on") == 0 ||
           strcmp(word, "off") == 0;
}

static void take_word(struct request *request, char *word)
{
    struct sender *sender = &request->sender;
    char **last = sender->lines + sender->count - 1;

    if (request->target == NULL) {
        request->target = word;
    } else if (sender->count > 0 && is_value(word) &&
               strchr(*last, ' ') == NULL) {
        char *first = *last;

        --sender->count;
        send_add(sender, "%s %s", first, word);
        free(first);
    } else {
        send_add(sender, "%s", word);
    }
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;
    char *end;

    switch (key) {
    case 'w':
        request->sender.seconds = strtod(word, &end);
        if (*end != '\0' || !(request->sender.seconds > 0))
            misuse("-w takes a number of seconds, not '%s'", word);
        break;
    case 'q':
        parasite_quiet = true;
        break;
    case ARGP_KEY_ARG:
        take_word(request, word);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void print_answer(const char *text)
{
    if (!parasite_quiet)
        puts(text);
}

/* Packets that come meanwhile have no place to go to. */
static void leave_packet(void *owner, const struct packet *packet)
{
    (void)owner;
    (void)packet;
}

static void note_packet(void *owner, const struct packet *packet)
{
    struct request *request = owner;

    (void)packet;
    request->binary = true;
}

/* What the guest prints on its console while it is asked for a report. */
static void print_line(void *owner, const char *line, size_t bytes)
{
    struct request *request = owner;
    const struct sender *sender = &request->sender;
    bool blank = true;

    if (parasite_quiet || request->binary || sender->state != SEND_WAITS ||
        strcmp(sender->lines[sender->answered], "report") != 0)
        return;
    for (size_t i = 0; i < bytes; ++i) {
        if ((unsigned char)line[i] < ' ' && strchr("\r\n\t", line[i]) == NULL)
            return;
        blank = blank && strchr("\r\n\t ", line[i]) != NULL;
    }
    if (!blank &&
        memmem(line, bytes, PROF_ANSWER_MARK, strlen(PROF_ANSWER_MARK)) == NULL)
        (void)!fwrite(line, 1, bytes, stdout);
}

static void hear(struct request *request)
{
    struct pollfd wait = {.fd = request->sender.file, .events = POLLIN};
    char bytes[4096];
    ssize_t count;

    if (poll(&wait, 1, WAIT_MS) <= 0)
        return;
    count = read(request->sender.file, bytes, sizeof bytes);
    if (count <= 0)
        fail("%s: closed before '%s' was answered", request->target,
             request->sender.lines[request->sender.answered]);
    scanner_feed(&request->scanner, bytes, (size_t)count);
    console_feed(&request->console, bytes, (size_t)count);
    send_hear(&request->sender, bytes, (size_t)count);
}

int command_tell(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "TARGET COMMAND...", help_text, 0, 0, 0};
    static struct request request = {
        .sender = {.once = true, .agreed = print_answer},
        .scanner.sink = {note_packet, &request},
        .console = {.sink = {leave_packet, &request}, .other = print_line},
    };
    struct target target;
    enum send_state state;

    argp_parse(&argp, argc, argv, 0, NULL, &request);
    if (request.target == NULL || request.sender.count == 0)
        misuse("give a target and a command; see 'parasite tell --help'");
    target_open(&target, request.target);
    if (!target.two_way)
        misuse("%s takes no commands; name the line that the guest listens to",
               request.target);
    send_begin(&request.sender, target.file);
    while ((state = send_step(&request.sender)) == SEND_WAITS)
        hear(&request);
    scanner_end(&request.scanner);
    console_end(&request.console);
    send_free(&request.sender);
    close(target.file);
    return state == SEND_DONE ? STATUS_FINE : STATUS_DATA;
}
