/* SPDX-License-Identifier: Apache-2.0 */
/* parasite tell: commands to a running guest, and its answers. */

#define _GNU_SOURCE /* memmem() */

#include "base/log.h"
#include "base/text.h"
#include "base/wait.h"
#include "cli/arguments.h"
#include "image/targets.h"
#include "input/send.h"
#include "input/target.h"
#include "trace/console.h"

#include <ctype.h>
#include <errno.h>
#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_SECONDS 0.05
#define TARGET "causal target "

static struct {
    const char *target;
    const char *image; /* whose lines targets may be; NULL = unknown */
    struct sender sender;
    struct scanner scanner;
    struct console console;
    bool binary; /* packets come on that connection: no text is shown */

    /* What looked like text since the command was sent. If we connect in the
     * middle of a packet, its bytes may look like text: whether they are is
     * known when the answer has come. */
    FILE *text;
    char *kept;
    size_t kept_bytes;
} session;

static const char help_text[] =
    "Send commands to a running guest and print its answers. COMMAND is "
    "start, stop, rate HZ, depth N, stacks on|off, "
    "trace on|off|dump, loop reset|report, "
    "causal start|stop|report|target NAME, "
    "reset, hello or report."
    "\vTARGET is the line that the guest listens to: the stream's line with "
    "prof.out=uart2, virtio or vsock, otherwise the guest's console. It is "
    "unix:PATH, tcp:HOST:PORT, vsock:PATH:PORT, vsock:CID:PORT or the name of "
    "a terminal; or http://HOST:PORT of a guest "
    "with prof.port=, its token in PARASITE_TOKEN. Each command is sent after "
    "the previous one has been answered.\n\n"
    "For example:\n"
    "  parasite tell unix:console.sock rate 99 start\n"
    "  parasite tell unix:console.sock causal start\n"
    "  parasite tell -k image.elf unix:console.sock causal target levels.c:16\n"
    "  parasite tell unix:console.sock report";

/* Whether (word) continues the command before it: "rate" "99". */
static bool is_value(const char *word)
{
    return isdigit((unsigned char)*word) || strcmp(word, "on") == 0 ||
           strcmp(word, "off") == 0 || strcmp(word, "dump") == 0;
}

/* "loop" "reset", "causal" "start", which alone are other commands. */
static bool continues(const char *last, const char *word)
{
    static const char *const with_argument[] = {"rate",  "depth", "stacks",
                                                "trace", "loop",  "causal"};

    for (size_t i = 0; i < sizeof with_argument / sizeof *with_argument; ++i)
        if (strcmp(last, with_argument[i]) == 0)
            return true;
    if (strcmp(last, "causal target") == 0)
        return true;
    return is_value(word) && strchr(last, ' ') == NULL;
}

/* Replaces lines, as targets of causal profiling, by their ranges of code. */
static void resolve_targets(void)
{
    struct sender *sender = &session.sender;
    char **given = sender->lines;
    size_t given_count = sender->count;

    sender->lines = NULL;
    sender->count = 0;
    for (size_t i = 0; i < given_count; ++i) {
        size_t count = 0;
        char **words = NULL;

        if (strncmp(given[i], TARGET, strlen(TARGET)) == 0)
            words = targets_words(session.image, TARGET,
                                  given[i] + strlen(TARGET), &count);
        else
            send_add(sender, "%s", given[i]);
        for (size_t j = 0; j < count; ++j) {
            send_add(sender, "%s", words[j]);
            free(words[j]);
        }
        free(words);
        free(given[i]);
    }
    free(given);
}

static bool take_word(char *word)
{
    struct sender *sender = &session.sender;
    char **last = sender->lines + sender->count - 1;

    if (session.target == NULL) {
        session.target = word;
    } else if (sender->count > 0 && continues(*last, word)) {
        char *first = *last;

        --sender->count;
        send_add(sender, "%s %s", first, word);
        free(first);
    } else {
        send_add(sender, "%s", word);
    }
    return true;
}

static void set_wait(char *word)
{
    char *end;

    session.sender.seconds = strtod(word, &end);
    if (*end != '\0' || !(session.sender.seconds > 0))
        die_usage("-w takes a number of seconds, not '%s'", word);
}

static const struct argument options[] = {
    {"wait", 'w', "SECONDS", "wait up to SECONDS for an answer (10)",
     .take = set_wait},
    {"kernel", 'k', "IMAGE",
     "the ELF image that the guest runs, for targets that are lines",
     .text = &session.image},
    {"quiet", 'q', NULL, "print errors only, not the answers",
     .flag = &log_quiet},
    {0},
};

static const struct command_line words = {options, "TARGET COMMAND...",
                                          help_text, .take = take_word};

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
    if (log_quiet)
        return;
    printable_put(stdout, text);
    putchar('\n');
}

/* Packets that come meanwhile are dropped. */
static void drop_packet(void *owner, const struct packet *packet)
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

/* Whether (line) is UTF-8, and (blank) whether nothing of it is visible. */
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

static bool is_report(const char *line)
{
    return strcmp(line, "report") == 0 || strcmp(line, "loop report") == 0 ||
           strcmp(line, "causal report") == 0;
}

/* Prints what the guest writes to its console for a report. */
static void keep_line(void *owner, const char *line, size_t bytes)
{
    const struct sender *sender = &session.sender;
    char *copy;
    bool blank;

    (void)owner;
    if (log_quiet || session.binary || sender->state != SEND_WAITS ||
        !is_report(sender->lines[sender->answered]) ||
        memchr(line, '\0', bytes) != NULL)
        return;
    copy = strndup(line, bytes);
    if (copy == NULL)
        die("out of memory");
    if (is_text(copy, &blank) && !blank &&
        strstr(copy, PROF_ANSWER_MARK) == NULL) {
        copy[strcspn(copy, "\r\n")] = '\0';
        printable_put(session.text, copy);
        putc('\n', session.text);
    }
    free(copy);
}

static void listen_for(void)
{
    session.sender.once = true;
    session.sender.agreed = print_answer;
    session.scanner.sink = (struct packet_sink){note_packet, NULL};
    session.console.sink = (struct packet_sink){drop_packet, NULL};
    session.console.other = keep_line;
    session.text = open_memstream(&session.kept, &session.kept_bytes);
    if (session.text == NULL)
        die("out of memory");
}

static void receive_answer(void)
{
    char bytes[4096];
    ssize_t count;

    if (!wait_readable(session.sender.file, seconds_now() + WAIT_SECONDS, 0))
        return;
    count = read(session.sender.file, bytes, sizeof bytes);
    if (count < 0 && errno == EAGAIN)
        return;
    if (count <= 0)
        die("%s: closed before '%s' was answered", session.target,
            session.sender.lines[session.sender.answered]);
    scanner_feed(&session.scanner, bytes, (size_t)count);
    console_feed(&session.console, bytes, (size_t)count);
    send_receive(&session.sender, bytes, (size_t)count);
}

int command_tell(int argc, char **argv)
{
    struct target target;
    enum send_state state;

    listen_for();
    arguments_parse(&words, argc, argv);
    if (session.target == NULL || session.sender.count == 0)
        die_usage("give a target and commands; see 'parasite tell --help'");
    resolve_targets();
    target_open(&target, session.target, TARGET_COMMANDS);
    if (!target.two_way)
        die_usage("%s does not take commands; give the line that the guest "
                  "listens to",
                  session.target);
    session.sender.listens = target.answered;
    send_begin(&session.sender, target.file);
    while ((state = send_step(&session.sender)) == SEND_WAITS)
        receive_answer();
    show_text();
    fclose(session.text);
    free(session.kept);
    scanner_end(&session.scanner);
    console_end(&session.console);
    send_free(&session.sender);
    close(target.file);
    return state == SEND_DONE ? STATUS_OK : STATUS_DATA;
}
