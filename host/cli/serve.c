/* SPDX-License-Identifier: Apache-2.0 */
/* parasite serve: many guests at once, for a store and for live readers. */

#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"
#include "cli/arguments.h"
#include "collect/collector.h"
#include "image/image.h"
#include "push/push.h"
#include "serve/http.h"
#include "serve/live.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DAY_SECONDS 86400.0
#define PUSH_BYTES ((size_t)64 << 20) /* of profiles that wait */

static struct collector_options collect;
static struct {
    const char *store;
    const char *spool;
    const char *push;
    double spool_mb;
    double keep_seconds;
    bool json;
    bool has_http;
    unsigned http;
} request = {.spool = "parasite-spool"};

static const char help_text[] =
    "Take the streams of many guests: for a store, minute by minute, and for "
    "live readers."
    "\vTARGET is as for 'parasite record', and is connected to again when it "
    "has gone. A name and an equals sign before it is the service that runs "
    "there, as in irc=unix:guest.sock; without, the name of the image given "
    "with -k. Guests that --listen waits for are connected by whatever runs "
    "them, such as QEMU with -chardev socket,path=SOCKET,reconnect=1.\n\n"
    "A live reader is 'parasite record', 'top' or 'tell' with the target "
    "unix:SOCKET?guest=NAME or tcp:HOST:PORT?guest=NAME, where NAME is a "
    "service with one guest, or the beginning of a guest's number.\n\n"
    "For example:\n"
    "  parasite serve --listen unix:guests.sock --store run/store\n"
    "  parasite serve --scan 'shm:/dev/shm/guest-*' -k irc.elf --json\n"
    "  parasite serve irc=tcp:10.0.0.7:9000 lua=tcp:10.0.0.8:9000 \\\n"
    "    --store 'http://user@host1,host2/parasite?cluster=NAME'\n"
    "  parasite top 'unix:guests.sock?guest=irc'";

/* SERVICE=WHERE: a service has no colon or slash, which each WHERE has. */
static void add_source(char *word, enum collector_way way)
{
    size_t name = strcspn(word, "=:/");
    struct collector_source source = {.way = way, .where = word};

    if (word[name] == '=' && name > 0) {
        word[name] = '\0';
        source.service = word;
        source.where = word + name + 1;
    }
    if (strlen(source.service != NULL ? source.service : "") > 100)
        die_usage("'%s' is too long for a service's name", source.service);
    VECTOR_ADD(collect.sources, collect.source_count, source);
}

static void add_listen(char *word)
{
    add_source(word, COLLECTOR_LISTEN);
}

static void add_scan(char *word)
{
    add_source(word, COLLECTOR_SCAN);
}

static bool add_target(char *word)
{
    add_source(word, COLLECTOR_TARGET);
    return true;
}

static void add_image(char *word)
{
    collect.images = image_paths_add(collect.images, word);
}

static void add_label(char *word)
{
    if (strchr(word, '=') == NULL || *word == '=')
        die_usage("--label takes NAME=VALUE, not '%s'", word);
    VECTOR_ADD(collect.labels, collect.label_count, word);
}

/* SERVICE=N/h */
static void add_budget(char *word)
{
    char *equals = strchr(word, '='), *end;
    struct collector_budget budget = {.service = word};

    if (equals != NULL && equals != word) {
        *equals = '\0';
        budget.per_hour = strtod(equals + 1, &end);
        if (end != equals + 1 && strcmp(end, "/h") == 0 &&
            budget.per_hour >= 1 && budget.per_hour <= 1e12) {
            VECTOR_ADD(collect.budgets, collect.budget_count, budget);
            return;
        }
        *equals = '=';
    }
    die_usage("--budget takes SERVICE=SAMPLES/h, not '%s'", word);
}

/* A token a line, and the service that it is for. */
static void read_tokens(char *path)
{
    FILE *in = fopen(path, "re");
    char line[512];
    struct stat about;

    if (in == NULL || fstat(fileno(in), &about) != 0)
        die("%s: %s", path, strerror(errno));
    if ((about.st_mode & 077) != 0)
        die_usage("%s: others can read the tokens; chmod 600 it", path);
    while (fgets(line, sizeof line, in) != NULL) {
        char *rest = line, *token = strsep(&rest, " \t\r\n");
        char *service = rest != NULL ? strsep(&rest, " \t\r\n") : NULL;

        if (*token == '\0' || *token == '#')
            continue;
        VECTOR_ADD(collect.tokens, collect.token_count,
                   (struct collector_token){xstrdup(token),
                                            service != NULL && *service != '\0'
                                                ? xstrdup(service)
                                                : NULL});
    }
    fclose(in);
    if (collect.token_count == 0)
        die_usage("%s: no token in it", path);
}

static void set_keep_raw(char *word)
{
    collect.raw_seconds = arguments_seconds("--keep-raw", word, 0);
    if (collect.raw == NULL)
        collect.raw = "parasite-raw";
}

static void set_keep(char *word)
{
    request.keep_seconds = arguments_seconds("--keep", word, DAY_SECONDS);
}

static void set_http(char *word)
{
    request.has_http = true;
    request.http = (unsigned)arguments_whole("--http", word, 0, 65535);
}

static void set_bucket(char *word)
{
    collect.bucket_seconds =
        (unsigned)arguments_whole("--bucket", word, 1, 3600);
}

static void set_rate(char *word)
{
    collect.guest_bytes =
        (uint64_t)arguments_whole("--guest-kb", word, 1, 1000000) * 1024;
}

static void set_guests(char *word)
{
    collect.guests = (unsigned)arguments_whole("--guests", word, 1, 1000000);
}

static void set_memory(char *word)
{
    collect.memory = (uint64_t)arguments_whole("--memory-mb", word, 1, 1000000)
                     << 20;
}

static void set_spool_mb(char *word)
{
    request.spool_mb = arguments_number("--spool-mb", word, 1, 1e9);
}

static const struct argument options[] = {
    {"listen", 'l', "[SERVICE=]SOCKET",
     "guests and readers connect to unix:PATH or tcp:HOST:PORT; may be "
     "repeated",
     .take = add_listen, .group = 1},
    {"scan", 0, "[SERVICE=]PATTERN",
     "guests whose RAM is a file, as shm:/dev/shm/guest-*; may be repeated",
     .take = add_scan, .group = 1},
    {"kernel", 'k', "IMAGE",
     "the ELF image of guests, for names and services; may be repeated",
     .take = add_image, .group = 1},
    {"tokens", 0, "FILE",
     "connections by TCP need one of the tokens in FILE: one a line, and the "
     "only service that it is for",
     .take = read_tokens, .group = 1},
    {"label", 0, "NAME=VALUE", "of all guests here; may be repeated",
     .take = add_label, .group = 1},
    {"host", 0, "NAME", "what this host is called in the store",
     .text = &collect.host, .group = 1},
    {"store", 0, "STORE",
     "a folder, or http://USER@HOST/DATABASE, as with 'sql'; several hosts "
     "need "
     "?cluster=NAME",
     .text = &request.store, .group = 2},
    {"spool", 0, "DIR", "what the store has not acknowledged (parasite-spool)",
     .text = &request.spool, .group = 2},
    {"spool-mb", 0, "MB", "the most that is kept there (1024)",
     .take = set_spool_mb, .group = 2},
    {"keep", 0, "TIME",
     "drop what the store has of days that ended so long ago, such as 30d",
     .take = set_keep, .group = 2},
    {"push", 0, "TARGET",
     "send each minute of each guest to otlp:http://HOST:PORT or "
     "pyroscope:http://HOST:PORT, too",
     .text = &request.push, .group = 2},
    {"json", 'j', NULL, "print each row as a line of JSON",
     .flag = &request.json, .group = 2},
    {"bucket", 0, "SECONDS",
     "with --json and no store: seconds that a row covers (60)",
     .take = set_bucket, .group = 2},
    {"keep-raw", 0, "TIME", "keep all packets for TIME, such as 1h",
     .take = set_keep_raw, .group = 3},
    {"raw", 0, "DIR", "where (parasite-raw)", .text = &collect.raw, .group = 3},
    {"captures", 0, "DIR",
     "keep what 'parasite fleet capture' takes there (that of --raw)",
     .text = &collect.captures, .group = 3},
    {"budget", 0, "SERVICE=N/h",
     "set the rates of a service's guests to N samples an hour of all of them",
     .take = add_budget, .group = 4},
    {"guest-kb", 0, "KB", "the most that a guest may send in a second (1024)",
     .take = set_rate, .group = 4},
    {"guests", 0, "N", "the most guests at a time (10000)", .take = set_guests,
     .group = 4},
    {"memory-mb", 0, "MB", "the most that the tables of all guests take (1024)",
     .take = set_memory, .group = 4},
    {"http", 0, "PORT",
     "a page of all guests, /metrics for Prometheus and /guests as JSON, at "
     "127.0.0.1; 0 = any port",
     .take = set_http, .group = 5},
    {"quiet", 'q', NULL, "no messages except errors", .flag = &log_quiet,
     .group = 6},
    {"verbose", 'v', NULL, "also say what is done", .flag = &log_is_verbose,
     .group = 6},
    {0},
};

static bool make_metrics(const struct serve_order *order, FILE *out)
{
    return collector_metrics(order->owner, out);
}

static bool make_guests(const struct serve_order *order, FILE *out)
{
    return collector_guests(order->owner, out);
}

static bool make_live(const struct serve_order *order, FILE *out)
{
    json_t *head = collector_live(order->owner, serve_argument(order, "boot"));

    return live_page_write(head, out);
}

static const struct serve_page pages[] = {
    {"/", "text/html; charset=utf-8", make_live, NULL},
    {"/metrics", "text/plain; version=0.0.4", make_metrics, NULL},
    {"/guests", "application/json", make_guests, NULL},
};

static void check(void)
{
    if (collect.source_count == 0)
        die_usage("give targets, --listen or --scan; see '%s --help'",
                  log_name);
    if (collect.bucket_seconds != 0 && request.store != NULL)
        die_usage("--bucket is for --json: a store's rows are of a minute");
    if (collect.bucket_seconds != 0 && !request.json)
        die_usage("--bucket needs --json");
    if (request.keep_seconds > 0 && request.store == NULL)
        die_usage("--keep needs --store");
    if (collect.raw != NULL && collect.raw_seconds == 0)
        die_usage("--raw needs --keep-raw");
}

static void open_store(void)
{
    static char state[4096];
    struct store_options how = {
        .create = true,
        .spool = request.spool,
        .spool_bytes = (uint64_t)(request.spool_mb * 1e6),
        .host = collect.host,
        .keep_seconds = request.keep_seconds,
        .may_wait = true,
        .stage = true,
    };
    char why[STORE_WHY];

    if (request.store == NULL)
        return;
    collect.store = store_open(request.store, &how, why);
    if (collect.store == NULL)
        die("%s", why);
    snprintf(state, sizeof state, "%s/serve.state", request.spool);
    collect.state = state;
}

static void open_push(void)
{
    char why[PUSH_WHY];

    if (request.push == NULL)
        return;
    collect.push = push_queue_open(request.push, PUSH_BYTES, why);
    if (collect.push == NULL)
        die_usage("%s", why);
}

int command_serve(int argc, char **argv)
{
    static const struct command_line line = {options, "[[SERVICE=]TARGET...]",
                                             help_text, .take = add_target};
    struct collector *collector;
    struct server *server = NULL;

    arguments_parse(&line, argc, argv);
    check();
    if (request.json)
        collect.rows = stdout;
    signals_catch();
    open_push();
    open_store();
    collector = collector_open(&collect);
    if (request.has_http) {
        server = serve_begin_live(pages, sizeof pages / sizeof *pages,
                                  collector, request.http);
        log_info("http://127.0.0.1:%u/metrics", serve_port(server));
    }
    collector_run(collector);
    if (server != NULL)
        serve_end(server);
    collector_close(collector);
    if (collect.push != NULL)
        push_queue_close(collect.push);
    if (collect.store != NULL)
        store_close(collect.store);
    return STATUS_OK;
}
