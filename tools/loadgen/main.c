/* SPDX-License-Identifier: Apache-2.0 */
/* loadgen: clients for the IRC server, at any rate. Each connects, registers,
 * joins a channel, says something and quits. It connects to this machine only,
 * so that no other machine is ever loaded. */

#include "load.h"

#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_CHANNELS = 256,
    KEY_TIMEOUT,
    KEY_JSON,
    KEY_FIRST,
    KEY_END,
    KEY_CPU_TIME,
    STATUS_FAILED = 1, /* a session failed */
    STATUS_USAGE = 2,
    STATUS_NOT_ENDED = 3, /* the server, see --end */
    PASSWORD_MAX = 64,
    END_ATTEMPTS = 5,
};

// clang-format off
static const struct argp_option options[] = {
    {"rate", 'r', "N", 0, "start N sessions per second, an open load", 0},
    {"clients", 'c', "N", 0,
     "keep N sessions running, a closed load (1)", 0},
    {"duration", 'd', "SECONDS", 0, "start none after SECONDS (10)", 0},
    {"sessions", 'n', "N", 0, "start at most N sessions", 0},
    {"channels", KEY_CHANNELS, "N", 0, "spread over N channels (64)", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "limit of a session (10)", 0},
    {"first", KEY_FIRST, "N", 0, "number of the first client's name (0)", 0},
    {"end", KEY_END, "PASSWORD", 0,
     "end the server afterwards, as operator with PASSWORD", 0},
    {"cpu-time", KEY_CPU_TIME, "FILE", 0,
     "print how much CPU time a thread used, FILE = its "
     "/proc/PID/task/TID/schedstat", 0},
    {"json", KEY_JSON, NULL, 0, "print figures as one JSON object", 0},
    {"quiet", 'q', NULL, 0, "show no progress", 0},
    {0},
};
// clang-format on

struct wish {
    struct load load;
    const char *password;  /* NULL = do not end the server */
    const char *schedstat; /* of a thread, NULL = none */
    uint64_t cpu_ns;       /* that it used meanwhile */
    bool json;
    bool quiet;
    bool duration_set;
};

static volatile bool stop;

static void on_signal(int number)
{
    (void)number;
    stop = true;
}

static double number(struct argp_state *state, const char *text, double least,
                     double most)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= least && value <= most))
        argp_error(state, "'%s' is not a number from %.9g to %.9g", text, least,
                   most);
    return value;
}

static void set_server(struct argp_state *state, const char *text,
                       struct sockaddr_in *server)
{
    char host[64];
    const char *colon = strrchr(text, ':');
    size_t bytes = colon != NULL ? (size_t)(colon - text) : strlen(text);

    if (bytes >= sizeof host)
        bytes = sizeof host - 1;
    memcpy(host, text, bytes);
    host[bytes] = '\0';
    server->sin_family = AF_INET;
    server->sin_port = htons(
        colon != NULL ? (uint16_t)number(state, colon + 1, 1, 65535) : 6667);
    if (strcmp(host, "localhost") == 0)
        strcpy(host, "127.0.0.1");
    if (inet_pton(AF_INET, host, &server->sin_addr) != 1)
        argp_error(state, "'%s' is not an IPv4 address", host);
    if (ntohl(server->sin_addr.s_addr) >> 24 != 127)
        argp_error(state,
                   "%s is another machine; only 127.0.0.0/8 is "
                   "loaded",
                   host);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct wish *wish = state->input;
    struct load *load = &wish->load;

    switch (key) {
    case 'r':
        load->rate = number(state, argument, 0.001, 1e6);
        return 0;
    case 'c':
        load->clients = (uint32_t)number(state, argument, 1, 1e6);
        return 0;
    case 'd':
        load->duration_us =
            (uint64_t)(number(state, argument, 0.001, 1e6) * 1e6);
        wish->duration_set = true;
        return 0;
    case 'n':
        load->sessions = (uint64_t)number(state, argument, 1, 1e12);
        return 0;
    case KEY_CHANNELS:
        load->plan.channels = (uint32_t)number(state, argument, 1, 1e6);
        return 0;
    case KEY_TIMEOUT:
        load->timeout_us =
            (uint64_t)(number(state, argument, 0.001, 1e6) * 1e6);
        return 0;
    case KEY_FIRST:
        load->first = (uint32_t)number(state, argument, 0, 4e9);
        return 0;
    case KEY_END:
        if (*argument == '\0' || strpbrk(argument, " \r\n") != NULL ||
            strlen(argument) > PASSWORD_MAX)
            argp_error(state, "no password: '%s'", argument);
        wish->password = argument;
        return 0;
    case KEY_CPU_TIME:
        wish->schedstat = argument;
        return 0;
    case KEY_JSON:
        wish->json = true;
        return 0;
    case 'q':
        wish->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (load->server_count == LOAD_SERVERS_MAX)
            argp_error(state, "more than %d addresses", LOAD_SERVERS_MAX);
        set_server(state, argument, &load->servers[load->server_count++]);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static uint64_t failures(const struct load *load)
{
    uint64_t sum = 0;

    for (int i = 0; i < FAILURES; i++)
        sum += load->failed[i];
    return sum;
}

static double per_second(const struct load *load)
{
    return load->spent_us > 0
               ? (double)load->done * 1e6 / (double)load->spent_us
               : 0;
}

static const struct {
    const char *name;
    double part;
} percentiles[] = {
    {"50", 0.5}, {"90", 0.9}, {"99", 0.99}, {"99.9", 0.999}, {"100", 1},
};
#define PERCENTILES (sizeof percentiles / sizeof percentiles[0])

static void print_row(const char *what, const struct latency *latency)
{
    printf("%-34s", what);
    for (size_t i = 0; i < PERCENTILES; i++)
        printf(" %9.3f",
               (double)latency_at(latency, percentiles[i].part) / 1000);
    putchar('\n');
}

static double cpu_us_per_session(const struct wish *wish)
{
    return (double)wish->cpu_ns / 1000 / (double)wish->load.done;
}

static void print_text(const struct wish *wish, const struct latency *corrected)
{
    const struct load *load = &wish->load;

    printf("%llu sessions in %.3f s, %.1f a second; %llu failed, at most %llu "
           "at once\n",
           (unsigned long long)load->done, (double)load->spent_us / 1e6,
           per_second(load), (unsigned long long)failures(load),
           (unsigned long long)load->most_at_once);
    if (failures(load) > 0)
        printf(
            "failed: %llu could not connect, %llu closed, %llu refused, %llu "
            "timed out\n",
            (unsigned long long)load->failed[FAILURE_CONNECT],
            (unsigned long long)load->failed[FAILURE_CLOSED],
            (unsigned long long)load->failed[FAILURE_REFUSED],
            (unsigned long long)load->failed[FAILURE_TIMEOUT]);
    printf("%-34s", "milliseconds per session, %");
    for (size_t i = 0; i < PERCENTILES; i++)
        printf(" %9s", percentiles[i].name);
    putchar('\n');
    print_row("from its start", &load->served);
    print_row(load->rate > 0 ? "from its due time" : "corrected for stalls",
              corrected);
    if (wish->schedstat != NULL && load->done > 0)
        printf("%.1f us of CPU time per session\n", cpu_us_per_session(wish));
}

static void print_latency(const char *name, const struct latency *latency)
{
    printf(",\"%s_ms\":{", name);
    for (size_t i = 0; i < PERCENTILES; i++)
        printf("%s\"%s\":%.3f", i > 0 ? "," : "", percentiles[i].name,
               (double)latency_at(latency, percentiles[i].part) / 1000);
    putchar('}');
}

static void print_json(const struct wish *wish, const struct latency *corrected)
{
    const struct load *load = &wish->load;

    printf("{\"load\":\"%s\",\"done\":%llu,\"failed\":%llu,\"seconds\":%.6f,"
           "\"per_second\":%.3f",
           load->rate > 0 ? "open" : "closed", (unsigned long long)load->done,
           (unsigned long long)failures(load), (double)load->spent_us / 1e6,
           per_second(load));
    if (wish->schedstat != NULL && load->done > 0)
        printf(",\"cpu_us_per_session\":%.3f", cpu_us_per_session(wish));
    print_latency("served", &load->served);
    print_latency("corrected", corrected);
    puts("}");
}

/* Ends the server by one more session, with which a session before it can not
 * be confused: whoever came and went without being noticed does not matter. A
 * server that can no longer be reached has ended. */
static bool end_server(const struct wish *wish)
{
    for (int i = 0; i < END_ATTEMPTS && !stop; i++) {
        struct load last = {
            .server_count = wish->load.server_count,
            .clients = 1,
            .sessions = 1,
            .timeout_us = wish->load.timeout_us,
            .first =
                wish->load.first + (uint32_t)wish->load.begun + (uint32_t)i,
            .plan = {.channels = 1, .password = wish->password},
        };

        memcpy(last.servers, wish->load.servers, sizeof last.servers);
        if (load_run(&last, &stop) != 0)
            return false;
        if (last.done == 1 || last.failed[FAILURE_CONNECT] == 1)
            return true;
        if (last.failed[FAILURE_REFUSED] == 1)
            break;
    }
    fputs("loadgen: the server did not end; is it booted with irc.oper=?\n",
          stderr);
    return false;
}

/* Writes to *(ns) how long the thread has run whose
 * /proc/PID/task/TID/schedstat is (path): unlike the time that passes, not
 * while other programs have the CPU. See "Scheduler Statistics" in the kernel's
 * documentation. False if there is no such thread or number. */
static bool cpu_time_ns(const char *path, uint64_t *ns)
{
    FILE *in = fopen(path, "r");
    bool found;

    if (in == NULL)
        return false;
    found = fscanf(in, "%" SCNu64, ns) == 1;
    fclose(in);
    return found;
}

/* Runs the load, and looks at the thread's CPU time around it. False: a message
 * was printed. */
static bool run(struct wish *wish)
{
    uint64_t before = 0, after = 0;

    if (wish->schedstat != NULL && !cpu_time_ns(wish->schedstat, &before)) {
        fprintf(stderr, "loadgen: %s has no CPU time\n", wish->schedstat);
        return false;
    }
    if (load_run(&wish->load, &stop) != 0) {
        fprintf(stderr, "loadgen: %s; try fewer clients\n", strerror(errno));
        return false;
    }
    if (wish->schedstat != NULL && !cpu_time_ns(wish->schedstat, &after)) {
        fprintf(stderr, "loadgen: %s: the thread has ended\n", wish->schedstat);
        return false;
    }
    wish->cpu_ns = after - before;
    return true;
}

int main(int argc, char **argv)
{
    static struct wish wish = {
        .load = {.clients = 1,
                 .plan = {.channels = 64},
                 .timeout_us = 10000000},
    };
    static struct latency closed;
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "ADDRESS[:PORT]...",
        .doc = "Loads an IRC server on this machine with clients that "
               "connect, register, join a channel, send a message and quit. "
               "Several addresses of one server are used in turns.\v"
               "With --rate the load is open, and latencies are measured "
               "from the time when a session was due. Without it the load is "
               "closed, and the sessions that a stall delayed are added. Both "
               "correct for coordinated omission.\n\n"
               "  loadgen -r 2800 -d 10 127.0.0.1:6667\n",
    };
    struct sigaction action = {.sa_handler = on_signal};
    struct load *load = &wish.load;
    const struct latency *corrected = &load->due;

    argp_err_exit_status = STATUS_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &wish);
    if (!wish.duration_set && load->sessions == 0)
        load->duration_us = 10000000;
    load->progress = !wish.quiet && isatty(STDERR_FILENO);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!run(&wish))
        return STATUS_FAILED;
    if (load->rate == 0) {
        /* the median time of a session */
        latency_correct(&closed, &load->served, latency_at(&load->served, 0.5));
        corrected = &closed;
    }
    (wish.json ? print_json : print_text)(&wish, corrected);
    if (wish.password != NULL && !stop && !end_server(&wish))
        return STATUS_NOT_ENDED;
    return failures(load) > 0 || load->done == 0 ? STATUS_FAILED : 0;
}
