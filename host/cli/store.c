/* SPDX-License-Identifier: Apache-2.0 */
/* parasite store: the embedded store, copies of one to servers, and dropping
 * what is old. */

#include "store/client.h"
#include "store/copy.h"
#include "store/embedded.h"

#include "base/json.h"
#include "base/log.h"
#include "cli/arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_SECONDS 86400.0

static struct {
    const char *path, *port, *idle;
    double keep_seconds;
    bool started, json;
    const char *words[3];
    unsigned count;
} given;

static const char help_text[] =
    "Keep many guests' samples, accounts, loop histograms and waits in a "
    "folder of this machine, with ClickHouse's engine, and answer ClickHouse's "
    "HTTP on a socket in it, until Ctrl-C. 'copy FROM TO' adds the rows of one "
    "store to another, such as a server when one machine is not enough. Days "
    "that the other has are left out; one of which it has a part is refused. "
    "'prune STORE --keep TIME' drops days that ended so long ago, as 'parasite "
    "serve --keep' does by itself."
    "\vThe engine is libchdb.so, which 'make store' fetches. Commands with a "
    "store start it by themselves, so it is to be started by hand only for "
    "--port, which asks for PARASITE_STORE_PASSWORD. A store is a folder, or "
    "http://USER@HOST:PORT/DATABASE with the "
    "password in PARASITE_STORE_PASSWORD.\n\n"
    "For example:\n"
    "  PARASITE_STORE_PASSWORD=... parasite store --path run/store --port "
    "8123\n"
    "  parasite store copy run/store http://profiles@db1:8123/parasite\n"
    "  parasite store prune run/store --keep 30d";

static void set_keep(char *word)
{
    given.keep_seconds = arguments_seconds("--keep", word, DAY_SECONDS);
}

static const struct argument options[] = {
    {"path", 'p', "DIR", "the store's folder, made if it is missing",
     .text = &given.path},
    {"port", 0, "PORT",
     "answer at this port of 127.0.0.1, too, with a password",
     .text = &given.port},
    {"idle", 0, "SECONDS", "end after so long without a request",
     .text = &given.idle},
    {"keep", 0, "TIME", "of prune: how long days are kept, such as 30d",
     .take = set_keep},
    {"json", 0, NULL, "of copy and prune: print JSON", .flag = &given.json},
    {"started", 0, NULL, "by a command: another owner is no error",
     .flag = &given.started, .hidden = true},
    {"quiet", 'q', NULL, "print errors only", .flag = &log_quiet},
    {0},
};

static bool take_word(char *word)
{
    if (given.count == 3)
        die_usage("too many words: '%s'", word);
    given.words[given.count++] = word;
    return true;
}

static const struct command_line words = {options, "[copy FROM TO|prune STORE]",
                                          help_text, .take = take_word};

/* ---- prune */

static void take_pruned(void *owner, const struct store_pruned *pruned)
{
    const char *table = store_table_name(pruned->table);
    json_t *object;

    if (!given.json) {
        printf("%-10s%s %" PRIu64 " rows\n", table, pruned->day, pruned->rows);
        return;
    }
    object = json_object();
    json_set(object, "server", json_text(pruned->server));
    json_set(object, "table", json_text(table));
    json_set(object, "day", json_text(pruned->day));
    json_set(object, "rows", json_count(pruned->rows));
    json_array_append_new(owner, object);
}

static int prune(const char *address)
{
    const struct store_options opened = {.change = true};
    char why[STORE_WHY];
    struct store *store = store_open(address, &opened, why);
    json_t *days = given.json ? json_array() : NULL;
    bool fine;

    if (store == NULL)
        die("%s", why);
    fine = store_prune(store, given.keep_seconds, take_pruned, days, why);
    if (given.json) /* what went before a failure, too */
        json_print(days, stdout);
    store_close(store);
    if (!fine)
        die("%s", why);
    return STATUS_OK;
}

int command_store(int argc, char **argv)
{
    struct embedded_options embedded = {0};

    arguments_parse(&words, argc, argv);
    if (given.count == 2 && strcmp(given.words[0], "prune") == 0) {
        if (given.keep_seconds == 0)
            die_usage("how long is kept? Give --keep, such as --keep 30d");
        return prune(given.words[1]);
    }
    if (given.count > 0) {
        if (strcmp(given.words[0], "copy") != 0 || given.count != 3)
            die_usage("give 'copy FROM TO', 'prune STORE', or --path DIR; see "
                      "'parasite store --help'");
        return copy_store(given.words[1], given.words[2], given.json);
    }
    if (given.path == NULL)
        die_usage("give the store's folder: --path DIR");
    embedded.path = given.path;
    if (given.port != NULL)
        embedded.port =
            (unsigned)arguments_whole("--port", given.port, 1, 65535);
    if (given.idle != NULL)
        embedded.idle_seconds =
            arguments_number("--idle", given.idle, 0.1, 1e9);
    embedded.is_started = given.started;
    embedded.password = getenv("PARASITE_STORE_PASSWORD");
    if (embedded.port != 0 &&
        (embedded.password == NULL || *embedded.password == '\0'))
        die_usage("--port is for every user of this machine: set a password, "
                  "PARASITE_STORE_PASSWORD");
    return embedded_run(&embedded);
}
