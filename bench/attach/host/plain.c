/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain SOCKET SECONDS ADDRESS BYTES: what `parasite attach` is compared with,
 * a loop that stops the guest behind QEMU's stub, reads the registers of its
 * CPU by one "g" and its stack by one "m", and lets it go on, as soon as it
 * can. Each packet waits for its answer. Prints how many samples a second that
 * makes, and the median of the pauses in microseconds.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAUSES_MAX 1000000u
#define LIMIT_SECONDS 20 /* for an answer */

static int stub;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void die(const char *why)
{
    fprintf(stderr, "plain: %s: %s\n", why, strerror(errno));
    exit(1);
}

/* Reads to the end of the next packet. */
static void receive(void)
{
    static char bytes[65536];
    static size_t at, end;
    int state = 0; /* in front of the packet, in it, in its sum */

    for (;;) {
        for (; at < end; ++at) {
            if (state == 0 && bytes[at] == '$')
                state = 1;
            else if (state == 1 && bytes[at] == '#')
                state = 2;
            else if (state >= 2 && ++state == 4) {
                ++at;
                return;
            }
        }
        ssize_t count = recv(stub, bytes, sizeof bytes, 0);

        if (count <= 0)
            die("no answer");
        at = 0;
        end = (size_t)count;
    }
}

static void put(const char *bytes, size_t count)
{
    if (send(stub, bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
        die("send");
}

/* (lead) acknowledges the answer before. */
static void packet(const char *lead, const char *payload)
{
    char bytes[80];
    unsigned char sum = 0;

    for (const char *at = payload; *at != '\0'; ++at)
        sum = (unsigned char)(sum + (unsigned char)*at);
    put(bytes, (size_t)snprintf(bytes, sizeof bytes, "%s$%s#%02x", lead,
                                payload, sum));
}

static void ask(const char *payload)
{
    packet("+", payload);
    receive();
}

static void connect_to(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    stub = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    if (stub < 0 || connect(stub, (void *)&name, sizeof name) != 0)
        die(path);
    setsockopt(stub, SOL_SOCKET, SO_RCVTIMEO,
               &(struct timeval){.tv_sec = LIMIT_SECONDS},
               sizeof(struct timeval));
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    static double pauses[PAUSES_MAX];
    char memory[64];
    size_t count = 0;
    double began, ended;

    if (argc != 5)
        return 2;
    connect_to(argv[1]);
    snprintf(memory, sizeof memory, "m%s,%s", argv[3], argv[4]);
    ask("qSupported"); /* the guest is stopped when the stub is connected to */
    packet("+", "c");
    began = ended = now();
    while (ended < began + atof(argv[2]) && count < PAUSES_MAX) {
        double stopped = ended;

        put("\3", 1);
        receive();
        ask("g");
        ask(memory);
        packet("+", "c");
        ended = now();
        pauses[count++] = ended - stopped;
    }
    put("\3", 1);
    receive();
    ask("D");
    qsort(pauses, count, sizeof *pauses, by_size);
    printf("%.1f %.1f\n", (double)count / (ended - began),
           pauses[count / 2] * 1e6);
    return 0;
}
