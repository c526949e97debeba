/* SPDX-License-Identifier: Apache-2.0 */
/* parasite tell: commands to a guest that runs, and what it answers. */

#define _GNU_SOURCE /* memmem() */

#include "commands.h"
#include "console.h"
#include "parasite.h"
#include "send.h"
#include "target.h"
#include "utf8.h"

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

    /* What looked like text since the command was sent. Whoever begins to
     * listen in the middle of a packet has seen none yet, and its bytes may
     * look so: whether it is text is known when the answer is there. */
    FILE *text;
    char *kept;
    size_t kept_bytes;
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

static struct request session;

/* Shows the text that is kept, unless it is none. */
static void show_text(void)
{
    fflush(session.text);
    if (!session.binary)
        (void)!fwrite(session.kept, 1, session.kept_bytes, stdout);
    rewind(session.text);
}

static void print_answer(const char *text)
{
    show_text();
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
    (void)owner;
    (void)packet;
    session.binary = true;
}

/* Whether (line) has characters only, as UTF-8 has them, and (blank) whether
 * there is nothing to be seen in it. */
static bool is_text(const char *line, bool *blank)
{
    int bytes;

    *blank = true;
    for (; *line != '\0'; line += bytes) {
        bool space = strchr("\r\n\t ", *line) != NULL;

        bytes = utf8_bytes(line);
        if (bytes == 0 || ((unsigned char)*line < ' ' && !space))
            return false;
        *blank = *blank && space;
    }
    return true;
}

/* What the guest prints on its console while it is asked for a report. */
static void keep_line(void *owner, const char *line, size_t bytes)
{
    const struct sender *sender = &session.sender;
    char *copy;
    bool blank;

    (void)owner;
    if (parasite_quiet || session.binary || sender->state != SEND_WAITS ||
        strcmp(sender->lines[sender->answered], "report") != 0 ||
        memchr(line, '\0', bytes) != NULL)
        return;
    copy = strndup(line, bytes);
    if (copy == NULL)
        fail("no memory");
    if (is_text(copy, &blank) && !blank &&
        strstr(copy, PROF_ANSWER_MARK) == NULL)
        fputs(copy, session.text);
    free(copy);
}

static void listen_for(void)
{
    session.sender.once = true;
    session.sender.agreed = print_answer;
    session.scanner.sink = (struct packet_sink){note_packet, NULL};
    session.console.sink = (struct packet_sink){leave_packet, NULL};
    session.console.other = keep_line;
    session.text = open_memstream(&session.kept, &session.kept_bytes);
    if (session.text == NULL)
        fail("no memory");
}

static void hear(void)
{
    struct pollfd wait = {.fd = session.sender.file, .events = POLLIN};
    char bytes[4096];
    ssize_t count;

    if (poll(&wait, 1, WAIT_MS) <= 0)
        return;
    count = read(session.sender.file, bytes, sizeof bytes);
    if (count <= 0)
        fail("%s: closed before '%s' was answered", session.target,
             session.sender.lines[session.sender.answered]);
    scanner_feed(&session.scanner, bytes, (size_t)count);
    console_feed(&session.console, bytes, (size_t)count);
    send_hear(&session.sender, bytes, (size_t)count);
}

int command_tell(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "TARGET COMMAND...", help_text, 0, 0, 0};
    struct target target;
    enum send_state state;

    listen_for();
    argp_parse(&argp, argc, argv, 0, NULL, &session);
    if (session.target == NULL || session.sender.count == 0)
        misuse("give a target and a command; see 'parasite tell --help'");
    target_open(&target, session.target);
    if (!target.two_way)
        misuse("%s takes no commands; name the line that the guest listens to",
               session.target);
    send_begin(&session.sender, target.file);
    while ((state = send_step(&session.sender)) == SEND_WAITS)
        hear();
    show_text();
    fclose(session.text);
    free(session.kept);
    scanner_end(&session.scanner);
    console_end(&session.console);
    send_free(&session.sender);
    close(target.file);
    return state == SEND_DONE ? STATUS_FINE : STATUS_DATA;
}
