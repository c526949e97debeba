/* SPDX-License-Identifier: Apache-2.0 */
/* parasite top: what a guest is doing at present. */

#define _GNU_SOURCE /* pipe2() */

#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"
#include "cli/arguments.h"
#include "top/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HZ_USUAL 99
#define ROWS_USUAL 25
#define WORDS_MAX 16

/* ---- --attach: a guest seen from outside, live */

static FILE *talk; /* of the process */
static pid_t process;

static int wait_for_end(void)
{
    int byte, status = 0;

    waitpid(process, &status, 0);
    process = 0;
    rewind(talk);
    while ((byte = getc(talk)) != EOF)
        putc(byte, stderr);
    fclose(talk);
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_DATA;
}

static void end_process(void)
{
    if (process <= 0)
        return;
    kill(process, SIGTERM);
    wait_for_end();
}

/* Waits for the first packet, which says that there is a guest. Without one
 * the process has printed why, and no screen hides that. It gives up by itself,
 * and a signal ends us both. */
static void wait_for_packet(int packets)
{
    struct pollfd wait = {.fd = packets, .events = POLLIN};

    wait_for(&wait, 1, HUGE_VAL, 0);
    if ((wait.revents & POLLIN) == 0)
        exit(wait_for_end());
}

/* The words for `parasite attach`, ended by NULL. */
static char **words_for(const struct request *request, int packets, int *count)
{
    size_t guest = 0;
    char **words, hz[16], file[16];

    while (request->guest != NULL && request->guest[guest] != NULL)
        ++guest;
    words = xreallocarray(NULL, WORDS_MAX + guest, sizeof *words);
    snprintf(hz, sizeof hz, "%u",
             request->hz != 0 ? (unsigned)request->hz : HZ_USUAL);
    snprintf(file, sizeof file, "%d", packets);
    *count = 0;
    words[(*count)++] = xstrdup("attach");
    words[(*count)++] = xstrdup("-q");
    words[(*count)++] = xstrdup("-F");
    words[(*count)++] = xstrdup(hz);
    words[(*count)++] = xstrdup("--packets");
    words[(*count)++] = xstrdup(file);
    if (request->image != NULL) {
        words[(*count)++] = xstrdup("-k");
        words[(*count)++] = xstrdup(request->image);
    }
    words[(*count)++] =
        xstrdup(request->guest != NULL ? "--" : request->target);
    for (size_t i = 0; i < guest; ++i)
        words[(*count)++] = request->guest[i];
    words[*count] = NULL;
    return words;
}

/* In the process, which must not outlive us. */
static void run_attach(const struct request *request, int packets)
{
    int nothing = open("/dev/null", O_RDONLY), count;
    char **words = words_for(request, packets, &count);

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN); /* the guest is to run on before we end */
    dup2(nothing, STDIN_FILENO);
    dup2(fileno(talk), STDOUT_FILENO);
    dup2(fileno(talk), STDERR_FILENO);
    exit(command_attach(count, words));
}

/* The guest of (request) is sampled by `parasite attach`, as a process of its
 * own, whose packets become the target of (request). What it says is printed
 * when we end. If it has no guest, that is now, with its exit code. */
static void attach_process(struct request *request)
{
    static char path[32];
    int ends[2];

    talk = tmpfile();
    if (talk == NULL || pipe2(ends, O_CLOEXEC) != 0)
        die("no temporary file, or no pipe: %s", strerror(errno));
    process = fork();
    if (process < 0)
        die("cannot start a process: %s", strerror(errno));
    if (process == 0) {
        close(ends[0]);
        run_attach(request, ends[1]);
    }
    close(ends[1]);
    atexit(end_process);
    wait_for_packet(ends[0]);
    snprintf(path, sizeof path, "file:/dev/fd/%d", ends[0]);
    request->target = path;
    request->guest = NULL;
    request->hz = 0;
    request->depth = -1;
}

/* ---- the command */

static const char help_text[] =
    "Show what a guest is doing now: on a terminal a screen with keys (? lists "
    "them), otherwise one table after another."
    "\vTARGET is as for 'parasite record'. A guest that restarts is followed. "
    "The command line after -- starts a guest; its output is shown at the end, "
    "and its exit code becomes that of top.\n\n"
    "For example:\n"
    "  parasite top -k image.elf unix:stream.sock\n"
    "  parasite top -F 999 -- \\\n"
    "    qemu-system-x86_64 -kernel image.elf -display none\n"
    "  parasite top --stdio -n 3 --delay 5 -k image.elf tcp:localhost:5555\n"
    "  parasite top --attach -k vmlinux gdb:localhost:1234";

static bool attaches; /* samples come from outside */
static struct top_run run = {
    .request = REQUEST_NOTHING,
    .delay = 1,
    .rows = ROWS_USUAL,
    .color = "auto",
    .weight = MODEL_CLOCKS,
};

static unsigned long count_of(const char *option, const char *text)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);

    if (end == text || *end != '\0' || *text == '-' || count == 0)
        die_usage("%s takes a number of at least 1, not '%s'", option, text);
    return count;
}

static enum top_sort sort_of(const char *word, bool sites)
{
    static const char *const names[TOP_SORTS] = {
        [TOP_BY_SELF] = "self",       [TOP_BY_TOTAL] = "total",
        [TOP_BY_NAME] = "name",       [TOP_BY_LONGEST] = "longest",
        [TOP_BY_DELAY] = "delay",     [TOP_BY_CALLS] = "calls",
        [TOP_BY_PENDING] = "pending",
    };
    unsigned i = 0;

    while (i < TOP_SORTS && strcmp(names[i], word) != 0)
        ++i;
    if (sites && i == TOP_SORTS)
        die_usage(
            "-s takes self, total, longest, delay, calls, pending or name "
            "with --loop, not '%s'",
            word);
    if (!sites && i >= TOP_BY_LONGEST)
        die_usage("-s takes self, total or name, not '%s'", word);
    return (enum top_sort)i;
}

static void set_delay(char *word)
{
    run.delay = request_number("--delay", word);
}

static void set_updates(char *word)
{
    run.updates = count_of("-n", word);
}

static void set_rows(char *word)
{
    run.rows = count_of("--rows", word);
}

static void set_filter(char *word)
{
    if (!top_filter(&run.ui, word))
        die_usage("'%s' is not a regular expression: %s", word, run.ui.problem);
}

static void set_cpu(char *word)
{
    run.ui.cpu = (uint32_t)arguments_whole("-C", word, 0, UINT16_MAX);
    run.ui.has_cpu = true;
}

static void set_weight(char *word)
{
    run.weight = view_weight_of(word);
}

static const struct argument options[] = {
    {"delay", 0, "SECONDS", "time between updates (1)", .take = set_delay},
    {"iterations", 'n', "N", "stop after N updates", .take = set_updates},
    {"attach", 0, NULL,
     "sample the guest from outside; TARGET is as for 'parasite attach'",
     .flag = &attaches},
    {"loop", 0, NULL, "who holds the event loop, by site, instead of functions",
     .flag = &run.sites},
    {"sort", 's', "KEY",
     "sort by self (default), total or name; with --loop by self (default), "
     "total, longest, delay, calls, pending or name",
     .text = &run.sort},
    {"filter", 0, "REGEX", "only names that match REGEX", .take = set_filter},
    {"cpu", 'C', "CPU", "only this CPU", .take = set_cpu},
    {"weight", 0, "WHAT", "count time (default) or samples",
     .take = set_weight},
    {"stdio", 0, NULL, "print tables, even on a terminal", .flag = &run.stdio},
    {"rows", 0, "N", "rows of a table (25)", .take = set_rows},
    {"color", 0, "WHEN", "always, never or auto (default)", .text = &run.color,
     .take = arguments_color},
    {0},
};

static void attach_guest(void)
{
    struct request *request = &run.request;

    if (run.sites)
        die_usage("--loop needs a guest that counts; --attach sees functions");
    if (request->sender.count > 0 || request->control != NULL)
        die_usage("--send and --control are not for --attach");
    request_check(request);
    request->sender.count = 0; /* the rate is not for the guest */
    attach_process(request);
}

int command_top(int argc, char **argv)
{
    static const struct command_line line = {
        options, "TARGET\n-- QEMU-COMMAND...", help_text,
        .child = &request_options, .child_owner = &run.request};
    struct image image = {0};

    argc = request_split(&run.request, argc, argv);
    arguments_parse(&line, argc, argv);
    if (run.sort != NULL)
        run.ui.sort = sort_of(run.sort, run.sites);
    if (run.ui.has_cpu && run.sites)
        die_usage("-C chooses functions of a CPU, not sites of --loop");
    if (attaches)
        attach_guest();
    request_check(&run.request);
    run.stdio = run.stdio || !isatty(STDOUT_FILENO);
    if (run.request.image != NULL)
        image_open(&image, run.request.image);
    return top_loop(&run, &image);
}
