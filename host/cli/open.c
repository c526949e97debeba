/* SPDX-License-Identifier: Apache-2.0 */
/* parasite open: a trace in the browser. A table lists what is served; another
 * viewer is one more row of it. */

#define _GNU_SOURCE /* environ */

#include "serve/overview.h"

#include "annotate/annotate.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments.h"
#include "export/export.h"
#include "flame/flame.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "Show a trace in the browser, and offer it in other viewers' formats, "
    "until Ctrl-C."
    "\vThe browser is $BROWSER, or what xdg-open starts. The trace is served "
    "at 127.0.0.1 only, to this machine: viewers on the web read it from "
    "there.\n\n"
    "For example:\n"
    "  parasite open x.trace\n"
    "  parasite open --port 8080 --no-browser -k image.elf x.trace";

static bool make_export(const struct serve_order *order, FILE *out)
{
    struct served_trace *trace = order->owner;

    return export_write(export_format(order->page->detail), false, &trace->view,
                        out);
}

static bool make_flame(const struct serve_order *order, FILE *out)
{
    struct served_trace *trace = order->owner;

    return flame_write_view(&trace->view, out);
}

static bool make_annotate(const struct serve_order *order, FILE *out)
{
    struct served_trace *trace = order->owner;

    return trace->view.names.image != NULL &&
           image_file(&trace->view.image) != NULL &&
           annotate_write_view(&trace->view, OPEN_CODE_PERCENT, out);
}

#define BYTES "application/octet-stream"

/* The first page is the one that the browser opens. */
static const struct serve_page pages[] = {
    /* clang-format off */
    {"/", "text/html; charset=utf-8", open_overview, NULL},
    {"/flame.html", "text/html; charset=utf-8", make_flame, NULL},
    {"/annotate.html", "text/html; charset=utf-8", make_annotate, NULL},
    {"/profile.json", "application/json", make_export, "firefox"},
    {"/profile.pb.gz", BYTES, make_export, "pprof"},
    {"/profile.trace.json", "application/json", make_export, "chrome"},
    {"/profile.perfetto-trace", BYTES, make_export, "perfetto"},
    {"/profile.folded", "text/plain; charset=utf-8", make_export, "folded"},
    {"/perf.data", BYTES, make_export, "perf"},
    {"/callgrind.out", "text/plain; charset=utf-8", make_export, "callgrind"},
    /* clang-format on */
};
#define PAGES (sizeof pages / sizeof pages[0])

static struct served_trace opened = {
    .view = {.input = "x.trace", .lines = true, .own_apart = true},
    .pages = pages,
    .page_count = PAGES,
};

static void set_port(char *word)
{
    opened.port = (unsigned)arguments_whole("--port", word, 0, 65535);
}

static const struct argument options[] = {
    {"port", 0, "PORT", "the port to listen at (any free one)",
     .take = set_port},
    {"no-browser", 0, NULL, "only print the address",
     .flag = &opened.no_browser},
    {0},
};

static const struct command_line line = {options, "[TRACE]", help_text,
                                         .child = &view_options,
                                         .child_owner = &opened.view};

/* In its own process group, so that Ctrl-C does not reach the browser;
 * (signals) are those that it may receive. It is not waited for. */
static bool start_program(char *const *words, const sigset_t *signals)
{
    posix_spawnattr_t attributes;
    pid_t child;
    bool started;

    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, signals);
    started =
        posix_spawnp(&child, words[0], NULL, &attributes, words, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    return started;
}

static void start_browser(char *address, const sigset_t *signals)
{
    const char *browser = getenv("BROWSER");
    char *script = NULL;
    bool started;

    if (browser != NULL && *browser != '\0') {
        size_t room = strlen(browser) + sizeof "exec  \"$1\"";
        char *words[] = {"sh", "-c", NULL, "sh", address, NULL};

        script = xreallocarray(NULL, room, 1);
        snprintf(script, room, "exec %s \"$1\"", browser);
        words[2] = script;
        started = start_program(words, signals);
    } else {
        char *words[] = {"xdg-open", address, NULL};

        started = start_program(words, signals);
    }
    if (!started)
        log_info(
            "xdg-open could not be started; open the address in a browser");
    free(script);
}

static void serve_trace(void)
{
    struct server *server;
    sigset_t ends, before;
    char address[64];
    int number;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* the browser is not waited for */
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    server = serve_begin(pages, PAGES, &opened, opened.port);
    snprintf(address, sizeof address, "http://127.0.0.1:%u%s",
             serve_port(server), pages[0].path);
    puts(address);
    fflush(stdout);
    log_info("press Ctrl-C to stop");
    if (!opened.no_browser)
        start_browser(address, &before);
    sigwait(&ends, &number);
    serve_end(server);
}

int command_open(int argc, char **argv)
{
    arguments_parse(&line, argc, argv);
    view_open(&opened.view);
    serve_trace();
    view_close(&opened.view);
    return STATUS_OK;
}
