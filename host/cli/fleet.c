/* SPDX-License-Identifier: Apache-2.0 */
/* parasite fleet: many guests, as a store has them. */

#include "fleet/fleet.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/wait.h"
#include "cli/arguments.h"
#include "cli/fleet_capture.h"
#include "flame/flame.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600u
#define BUILD_WORDS_MAX 2

enum verb { LIST, TOP, FLAME, DIFF, ODD, PUSH, WAITS, CAPTURE, VERBS };

static const char *const verbs[VERBS] = {"list", "top",  "flame", "diff",
                                         "odd",  "push", "waits", "capture"};

static struct {
    enum verb verb;
    bool has_verb;
    const char *service;
    const char *store;
    const char *since, *until;
    const char *builds[BUILD_WORDS_MAX];
    unsigned build_count;
    const char *output;
    const char *to;
    const char *title;
    enum fleet_order order;
    double above;
    unsigned long rows;
    unsigned every; /* seconds */
    bool json;
    bool svg;
    struct fleet_capture capture;
} request = {.above = 5,
             .rows = 25,
             .capture = {.seconds = 10, .rate = 997, .budget = 8e6}};

static const char help_text[] =
    "Show many guests, as a store has them (parasite serve --store fills one): "
    "the list of guests and what was lost; or of a SERVICE the hottest "
    "functions (top), what tasks waited for (waits), the flame graph (flame), "
    "what two builds do differently "
    "(diff), and which guests are unlike the others (odd). push sends profiles "
    "to another system. capture has guests sample faster, all at the same "
    "time, and writes a trace of each."
    "\vVERB is list, top, flame, diff, odd, push, waits or capture; without "
    "one it is "
    "list. "
    "STORE is a folder, or http://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE; "
    "without --store it is that of PARASITE_STORE. Times are whole minutes, "
    "as is the store: 90s, 30m, 1h or 2d ago, \"2026-11-02 10:00\" of UTC, or "
    "@ and Unix seconds. A BUILD is the first digits of its id, or first or "
    "last.\n\n"
    "diff compares guests by Welch's t, odd by median absolute deviations; "
    "docs/fleet.md says what they can find.\n\n"
    "For example:\n"
    "  parasite fleet --store run/store\n"
    "  parasite fleet -o guests.html\n"
    "  parasite fleet top web --since 2h --build last\n"
    "  parasite fleet flame web --since 2h -o web.html\n"
    "  parasite fleet flame web --build 4a1 --build 9c -o change.html\n"
    "  parasite fleet diff web --build 4a1 --build 9c\n"
    "  parasite fleet odd web --json\n"
    "  parasite fleet push web --since 5m --to otlp:http://localhost:4318\n"
    "  parasite fleet capture web --from unix:run/guests -o captured";

static bool take_word(char *word)
{
    if (!request.has_verb) {
        request.has_verb = true;
        for (int i = 0; i < VERBS; ++i) {
            if (strcmp(word, verbs[i]) == 0) {
                request.verb = (enum verb)i;
                return true;
            }
        }
        die_usage(
            "'%s' is none of list, top, flame, diff, odd, push, waits, capture",
            word);
    }
    if (request.service != NULL)
        die_usage("two services: '%s' and '%s'?", request.service, word);
    request.service = word;
    return true;
}

static void add_build(char *word)
{
    if (request.build_count == BUILD_WORDS_MAX)
        die_usage("--build is given at most twice");
    request.builds[request.build_count++] = word;
}

static void set_above(char *word)
{
    request.above = arguments_number("--above", word, 0.1, 1e6);
}

static void set_every(char *word)
{
    request.every = (unsigned)arguments_whole("--every", word, 1, 24 * HOUR);
}

static void set_rows(char *word)
{
    request.rows = arguments_rows(word);
}

static void set_order(char *word)
{
    if (strcmp(word, "self") == 0)
        request.order = FLEET_BY_SELF;
    else if (strcmp(word, "total") == 0)
        request.order = FLEET_BY_TOTAL;
    else
        die_usage("-s takes self or total, not '%s'", word);
}

static void add_from(char *word)
{
    VECTOR_ADD(request.capture.from, request.capture.from_count, word);
}

static void add_guest(char *word)
{
    if (strpbrk(word, ", =") != NULL)
        die_usage("'%s' is no guest: a comma, blank or = is in it", word);
    VECTOR_ADD(request.capture.guests, request.capture.guest_count, word);
}

static void set_seconds(char *word)
{
    request.capture.seconds =
        (unsigned)arguments_whole("--seconds", word, 1, HOUR);
}

static void set_rate(char *word)
{
    request.capture.rate = (unsigned)arguments_whole("--rate", word, 1, 20000);
}

/* "8MB/s", "500kB/s" */
static void set_budget(char *word)
{
    char *end;
    double bytes = strtod(word, &end);

    if (strcmp(end, "MB/s") == 0)
        bytes *= 1e6;
    else if (strcmp(end, "kB/s") == 0)
        bytes *= 1e3;
    else
        bytes = 0;
    if (!(bytes >= 2000 && bytes <= 4e9))
        die_usage("--budget takes 2kB/s to 4000MB/s, as in 8MB/s, not '%s'",
                  word);
    request.capture.budget = bytes;
}

static const struct argument options[] = {
    {"store", 'S', "STORE", "the store (PARASITE_STORE)",
     .text = &request.store},
    {"since", 0, "TIME", "from then on (1h)", .text = &request.since},
    {"until", 0, "TIME", "up to then (now)", .text = &request.until},
    {"build", 'b', "BUILD",
     "only that build; twice for flame and diff, the older one first",
     .take = add_build},
    {"sort", 's', "KEY",
     "self or total: the order of top, and which shares diff compares (self)",
     .take = set_order},
    {"above", 0, "N", "odd: deviations from the median that are odd (5)",
     .take = set_above},
    {"rows", 'r', "N", "rows at most, 0 = all (25)", .take = set_rows},
    {"output", 'o', "FILE",
     "list, flame: write the page FILE.html, or of flame a picture FILE.svg; - "
     "is stdout. capture: the folder (captured)",
     .text = &request.output},
    {"every", 0, "SECONDS",
     "with -o, list: write the page again every so often, and have it load "
     "itself again, until interrupted",
     .take = set_every},
    {"to", 0, "TARGET",
     "push: to otlp:http://HOST:PORT, OpenTelemetry's profiles, or "
     "pyroscope:http://HOST:PORT",
     .text = &request.to},
    {"from", 0, "SOCKET",
     "capture: where 'parasite serve' listens, unix:PATH or tcp:HOST:PORT; may "
     "be repeated",
     .take = add_from},
    {"guest", 0, "NAME",
     "capture: only that guest, the first digits of its number or boot; may be "
     "repeated",
     .take = add_guest},
    {"seconds", 0, "N", "capture: how long (10)", .take = set_seconds},
    {"rate", 0, "HZ", "capture: samples a second of each CPU (997)",
     .take = set_rate},
    {"tasks", 0, NULL, "capture: switch the recorder of tasks on, too",
     .flag = &request.capture.tasks},
    {"budget", 0, "BYTES",
     "capture: of all guests of a host in a second (8MB/s); beyond it "
     "recorders are switched off, rates lowered",
     .take = set_budget},
    {"title", 0, "TEXT", "flame: the title (the service)",
     .text = &request.title},
    {"json", 0, NULL, "print JSON, with all rows", .flag = &request.json},
    {"quiet", 'q', NULL, "no messages except errors", .flag = &log_quiet},
    {"verbose", 'v', NULL, "print the queries, too", .flag = &log_is_verbose},
    {0},
};

static const struct command_line line = {options, "[VERB [SERVICE]]", help_text,
                                         .take = take_word};

static uint32_t time_of(const char *option, const char *word, uint32_t now)
{
    uint32_t seconds;

    if (!fleet_time(word, now, &seconds))
        die_usage("%s takes a time such as 30m or \"2026-11-02 10:00\", not "
                  "'%s'",
                  option, word);
    return seconds;
}

/* Whole minutes: that of --since, and that before --until ends. */
static void set_times(struct fleet *fleet)
{
    uint32_t now = (uint32_t)time(NULL);
    uint32_t since, until = now;

    if (request.until != NULL)
        until = time_of("--until", request.until, now);
    since = request.since != NULL ? time_of("--since", request.since, now)
                                  : (until > HOUR ? until - HOUR : 0);
    fleet->since = since / STORE_BUCKET_SECONDS * STORE_BUCKET_SECONDS;
    fleet->until = until / STORE_BUCKET_SECONDS * STORE_BUCKET_SECONDS;
    if (fleet->until < until)
        fleet->until += STORE_BUCKET_SECONDS;
    if (fleet->since >= fleet->until)
        die_usage("there is no time between --since and --until");
}

static void check_options(void)
{
    if (request.verb != LIST && request.service == NULL)
        die_usage("%s needs a service: parasite fleet %s SERVICE",
                  verbs[request.verb], verbs[request.verb]);
    if (request.build_count == 2 && request.verb != FLAME &&
        request.verb != DIFF)
        die_usage("only flame and diff take two builds");
    if (request.output != NULL && request.verb != LIST &&
        request.verb != FLAME && request.verb != CAPTURE)
        die_usage("-o is for list, flame and capture");
    if ((request.verb == CAPTURE) != (request.capture.from_count > 0))
        die_usage("capture needs --from SOCKET, and nothing else takes it");
    if (request.every > 0 && (request.verb != LIST || request.output == NULL ||
                              strcmp(request.output, "-") == 0))
        die_usage("--every is for list with -o FILE");
    if ((request.verb == PUSH) != (request.to != NULL))
        die_usage("push needs --to TARGET, and nothing else takes it");
    if (request.json && request.output != NULL && request.verb != CAPTURE)
        die_usage("--json and -o contradict each other");
    if (request.verb == CAPTURE)
        return;
    if (request.store == NULL)
        request.store = getenv("PARASITE_STORE");
    if (request.store == NULL || *request.store == '\0')
        die_usage("which store? Give --store, or set PARASITE_STORE");
}

static void open_fleet(struct fleet *fleet)
{
    struct store_options store = {0};
    char why[STORE_WHY];

    set_times(fleet);
    fleet->service = request.service;
    fleet->store = store_open(request.store, &store, why);
    if (fleet->store == NULL)
        die("%s", why);
    for (unsigned i = 0; i < request.build_count; ++i)
        fleet_add_build(fleet, request.builds[i]);
}

static void say_none(const struct fleet *fleet, size_t count)
{
    if (count == 0)
        log_info("%s: no guests%s%s at that time", store_name(fleet->store),
                 fleet->service != NULL ? " of service " : "",
                 fleet->service != NULL ? fleet->service : "");
}

static void run_list(const struct fleet *fleet)
{
    struct fleet_guests guests;

    fleet_guests(fleet, &guests);
    fleet_claims(fleet, &guests);
    say_none(fleet, guests.count);
    if (request.json)
        json_print(fleet_list_json(fleet, &guests), stdout);
    else
        fleet_list_print(fleet, &guests, request.rows, stdout);
    fleet_guests_free(&guests);
}

static void run_top(const struct fleet *fleet)
{
    struct fleet_top top;

    fleet_top(fleet, request.order, &top);
    say_none(fleet, top.count);
    if (request.json)
        json_print(fleet_top_json(fleet, &top), stdout);
    else
        fleet_top_print(fleet, &top, request.rows, stdout);
    fleet_top_free(&top);
}

static void run_waits(const struct fleet *fleet)
{
    struct store_answer answer;

    fleet_waits(fleet, &answer);
    if (request.json)
        json_print(fleet_waits_json(fleet, &answer), stdout);
    else
        fleet_waits_print(fleet, &answer, request.rows, stdout);
    store_answer_free(&answer);
}

static void run_diff(const struct fleet *fleet)
{
    struct fleet_diff diff;

    fleet_diff(fleet, request.order, &diff);
    if (request.json)
        json_print(fleet_diff_json(fleet, &diff), stdout);
    else
        fleet_diff_print(fleet, &diff, request.rows, stdout);
    fleet_diff_free(&diff);
}

static void run_odd(const struct fleet *fleet)
{
    struct fleet_odd odd;

    fleet_odd(fleet, request.above,
              request.json || request.rows == 0 ? SIZE_MAX : request.rows,
              &odd);
    if (request.json)
        json_print(fleet_odd_json(fleet, &odd), stdout);
    else
        fleet_odd_print(fleet, &odd, request.rows, stdout);
    fleet_odd_free(&odd);
}

static void run_push(const struct fleet *fleet)
{
    uint64_t profiles = fleet_push(fleet, request.to);

    say_none(fleet, profiles);
    if (request.json)
        json_print(json_pack("{sI}", "profiles", (json_int_t)profiles), stdout);
    else if (!log_quiet)
        log_summary("[ %s: sent %llu profiles to %s ]", log_name,
                    (unsigned long long)profiles, request.to);
}

static void say_written(void)
{
    if (!log_quiet && strcmp(request.output, "-") != 0)
        log_summary("[ %s: wrote %s ]", log_name, request.output);
}

/* "web", or "web: 4a1 -> 9c". */
static void run_flame(const struct fleet *fleet)
{
    struct flame flame;
    char title[512];
    bool fine;
    FILE *out;

    if (request.json) {
        json_print(fleet_stacks_json(fleet), stdout);
        return;
    }
    arguments_choose_output(&request.output, "flame", &request.svg);
    if (request.title != NULL)
        snprintf(title, sizeof title, "%s", request.title);
    else if (fleet->build_count == 2)
        snprintf(title, sizeof title, "%s: %.12s \xe2\x86\x92 %.12s",
                 fleet->service, fleet->builds[0], fleet->builds[1]);
    else
        snprintf(title, sizeof title, "%s%s%.12s", fleet->service,
                 fleet->build_count == 1 ? ": " : "", fleet->builds[0]);
    fleet_flame(fleet, title, &flame);
    out = output_open(request.output);
    fine = request.svg ? flame_write_svg(&flame, out)
                       : flame_write_page(&flame, out);
    output_close(out, request.output, fine);
    say_written();
    flame_free(&flame);
}

static void write_page(const struct fleet *fleet)
{
    FILE *out = output_open(request.output);

    output_close(out, request.output,
                 fleet_write_page(fleet, request.every, out));
}

/* Once, or again and again until a signal comes. Every time it is a new file
 * that takes the place of the old one, so that a browser reads one or the
 * other. The old one stays where the store does not answer, but for the first
 * time, when --store may be wrong. */
static void run_page(struct fleet *fleet)
{
    const char *path = request.output;
    char next[PATH_MAX];
    bool failed = false;

    if (request.every == 0) {
        write_page(fleet);
        say_written();
        return;
    }
    if (snprintf(next, sizeof next, "%s.new", path) >= (int)sizeof next)
        die_usage("the name '%s' is too long", path);
    request.output = next;
    signals_catch();
    do {
        set_times(fleet);
        failed = false;
        write_page(fleet);
        fleet->failed = &failed;
        if (!failed && rename(next, path) != 0)
            die("cannot rename %s to %s: %s", next, path, strerror(errno));
    } while (wait_until(seconds_now() + request.every));
    if (failed)
        unlink(next);
    fleet->failed = NULL;
    request.output = path;
    say_written();
}

int command_fleet(int argc, char **argv)
{
    static struct fleet fleet;
    static void (*const runs[VERBS])(const struct fleet *fleet) = {
        run_list, run_top,  run_flame, run_diff,
        run_odd,  run_push, run_waits, NULL};
    bool is_page;

    arguments_parse(&line, argc, argv);
    check_options();
    if (request.verb == CAPTURE) {
        request.capture.service = request.service;
        request.capture.folder =
            request.output != NULL ? request.output : "captured";
        request.capture.json = request.json;
        return fleet_capture(&request.capture);
    }
    is_page = request.verb == LIST && request.output != NULL;
    open_fleet(&fleet);
    if (request.verb != FLAME && request.verb != PUSH && !is_page &&
        !request.json)
        pager_start();
    if (is_page)
        run_page(&fleet);
    else
        runs[request.verb](&fleet);
    store_close(fleet.store);
    return STATUS_OK;
}
