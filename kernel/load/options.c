/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.load=closed, open, partly   what the clients wait for (closed)
 * net.load_clients=8              how many there are at a time, at most 1024
 * net.load_sessions=10000         connections in all
 * net.load_requests=N             in each (irc: 1, http: 100)
 * net.load_rate=1000              open: requests, partly: sessions a second
 * net.load_trip=200               us from an answer to what follows, on average
 * net.load_timeout=10000          ms without an answer: the session has failed
 * net.load_path=/                 what is asked for by HTTP
 * net.load_seed=1                 of the random durations
 */

#include "load.h"

#include "../net/net.h"
#include "../net/rules.h"

#include <stdlib.h>
#include <string.h>

struct load_settings load_settings = {
    .clients = 8,
    .sessions = 10000,
    .rate = 1000,
    .trip_us = 200,
    .timeout_ms = 10000,
    .seed = 1,
    .path = "/",
};

/* Parses a number, 1 to (most). */
static bool parse_number(const char *value, uint32_t most, uint32_t *out)
{
    char *end;
    unsigned long read = strtoul(value, &end, 10);

    if (*value < '0' || *value > '9' || *end != '\0' || read < 1 || read > most)
        return false;
    *out = (uint32_t)read;
    return true;
}

/* Causal experiments assume the same (kernel/net/agents.h). */
static bool kind(const char *value)
{
    static const char *const kinds[] = {"closed", "open", "partly"};

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i]) == 0) {
            load_settings.kind = (enum load_kind)i;
            return net_rule_option(value);
        }
    return false;
}

static bool path(const char *value)
{
    if (*value != '/' || strlen(value) > LOAD_PATH_MAX)
        return false;
    strcpy(load_settings.path, value);
    return true;
}

bool net_load_option(const char *key, const char *value);

bool net_load_option(const char *key, const char *value)
{
    static const struct {
        const char *key;
        uint32_t most;
        uint32_t *out;
    } numbers[] = {
        {"_clients", LOAD_CLIENTS_MAX, &load_settings.clients},
        {"_sessions", 1000000000, &load_settings.sessions},
        {"_requests", 1000000, &load_settings.requests},
        {"_rate", 1000000, &load_settings.rate},
        {"_trip", 1000000, &load_settings.trip_us},
        {"_timeout", 3600000, &load_settings.timeout_ms},
        {"_seed", UINT32_MAX, &load_settings.seed},
    };

    if (*key == '\0')
        return kind(value);
    if (strcmp(key, "_path") == 0)
        return path(value);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(key, numbers[i].key) == 0)
            return parse_number(value, numbers[i].most, numbers[i].out);
    return false;
}
