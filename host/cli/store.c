/* SPDX-License-Identifier: Apache-2.0 */
/* parasite store: the embedded store, and copies of one to servers. */

#include "store/client.h"
#include "store/copy.h"
#include "store/embedded.h"

#include "base/log.h"
#include "cli/arguments.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *path, *port, *idle;
    bool started;
    const char *words[3];
    unsigned count;
} given;

static const char help_text[] =
    "Keep many guests' samples, accounts, loop histograms and waits in a "
    "folder of this machine, with ClickHouse's engine, and answer ClickHouse's "
    "HTTP on a socket in it, until Ctrl-C. 'copy FROM TO' adds the rows of one "
    "store to another, such as a server when one machine is not enough. Days "
    "that the other has are left out; one of which it has a part is refused."
    "\vThe engine is libchdb.so, which 'make store' fetches. Commands with a "
    "store start it by themselves, so it is to be started by hand only for "
    "--port, which asks for PARASITE_STORE_PASSWORD. A store is a folder, or "
    "http://USER@HOST:PORT/DATABASE with the "
    "password in PARASITE_STORE_PASSWORD.\n\n"
    "For example:\n"
    "  PARASITE_STORE_PASSWORD=... parasite store --path run/store --port "
    "8123\n"
    "  parasite store copy run/store http://profiles@db1:8123/parasite";

static const struct argument options[] = {
    {"path", 'p', "DIR", "the store's folder, made if it is missing",
     .text = &given.path},
    {"port", 0, "PORT",
     "answer at this port of 127.0.0.1, too, with a password",
     .text = &given.port},
    {"idle", 0, "SECONDS", "end after so long without a request",
     .text = &given.idle},
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

static const struct command_line words = {options, "[copy FROM TO]", help_text,
                                          .take = take_word};

int command_store(int argc, char **argv)
{
    struct embedded_options embedded = {0};

    arguments_parse(&words, argc, argv);
    if (given.count > 0) {
        if (strcmp(given.words[0], "copy") != 0 || given.count != 3)
            die_usage("give 'copy FROM TO', or --path DIR; see 'parasite store "
                      "--help'");
        return copy_store(given.words[1], given.words[2]);
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
