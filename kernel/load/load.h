/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_LOAD_H
#define KERNEL_LOAD_H

/*
 * Clients of a service inside of its image, on the other side of a network
 * device that is in the image, too: so all that happens is counted in
 * instructions, and with an instruction counter a run repeats exactly.
 *
 *     device.c   the virtio network device: its registers, queues and cable
 *     frame.c    Ethernet, ARP, IPv4 and TCP as far as clients need them
 *     clients.c  clients: when they connect, send requests and leave
 *     order.c    which of them does something next
 *     text.c     lines of what a service sends
 *     irc.c      requests to the IRC server,
 *     http.c     and to the web server
 *     figures.c  what they have measured
 *     options.c  net.load= and those that begin so
 *
 * Frames go through the driver, its queues, the stack and the service as ever.
 * The clients have a clock of their own, which stands still while they compute:
 * what that takes is in none of their figures, in no share of a profile, and
 * not in the virtual time of causal experiments.
 *
 * Contexts: thread, everywhere.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum load_kind {
    LOAD_CLOSED, /* what comes next waits for the answer */
    LOAD_OPEN,   /* requests come by themselves, in connections that stay */
    LOAD_PARTLY, /* sessions come by themselves, then wait for answers */
};

#define LOAD_CLIENTS_MAX 1024u
#define LOAD_PATH_MAX 63u

struct load_settings {
    enum load_kind kind;
    uint32_t clients;    /* at a time */
    uint32_t sessions;   /* connections in all */
    uint32_t requests;   /* in each; 0: as the script has it */
    uint32_t rate;       /* open: requests, partly: sessions a second */
    uint32_t trip_us;    /* from an answer to what follows, on average */
    uint32_t timeout_ms; /* without an answer, after which a session fails */
    uint32_t seed;
    char path[LOAD_PATH_MAX + 1]; /* that is asked for by HTTP */
};
extern struct load_settings load_settings;

/* ---- clients.c */

/* The device was found, and has a cable from now on. */
void load_begin(void);

/* By the clients' clock, in cycles of the TSC: now, and when they send the
 * next frame, UINT64_MAX: never. */
uint64_t load_now(void);
uint64_t load_next(void);

/* The frame of (bytes) bytes reaches the clients now. */
void load_receive(const uint8_t *frame, size_t bytes);

/* Writes the next frame that is sent until now to (to), at most FRAME_MAX, and
 * when it arrives by the TSC to (*arrived). Returns its length, 0: none. */
size_t load_send(uint8_t *to, uint64_t *arrived);

/* Calls (work), which is the clients': it takes none of their time. */
void load_work(void (*work)(void));

/* ---- scripts */

struct load_client;

enum load_received {
    LOAD_WAIT,   /* for more */
    LOAD_ANSWER, /* that was an answer, and something follows */
    LOAD_FAILED, /* it is not what should have come */
};

struct load_script {
    const char *name; /* of the service's program */
    uint16_t port;
    uint32_t requests;  /* of a session */
    bool service_ends;  /* the service closes the connection */
    uint32_t greetings; /* answers before the first request */

    /* Writes request (number), from 0 on, to (to), of LOAD_REQUEST_MAX bytes.
     * (last): none follows. Returns how many bytes. */
    size_t (*write_request)(const struct load_client *client, uint32_t number,
                            bool last, char *to);

    /* (bytes) were received; (*taken) of them were used, up to and including an
     * answer. */
    enum load_received (*receive)(struct load_client *client, const char *bytes,
                                  size_t count, size_t *taken);
};
#define LOAD_REQUEST_MAX 256u
#define LOAD_LINE_MAX 600u

extern const struct load_script load_script_irc, load_script_http;
extern const struct load_script load_script; /* the image's (ldflags) */

/* What a script keeps of a connection. */
struct load_text {
    uint32_t session; /* its number */
    uint32_t step;    /* private to the script, at first 0 */
    uint32_t rest;    /* the same: bytes of a body */
    size_t held;
    char line[LOAD_LINE_MAX];
};
struct load_text *load_text(struct load_client *client);
uint32_t load_session(const struct load_client *client);

/* Adds bytes up to the end of a line to the client's line. Returns whether it
 * is complete: without its end, and with a NUL. (*failed): it is too long. */
bool load_line(struct load_text *text, const char *bytes, size_t count,
               size_t *taken, bool *failed);

/* ---- figures.c */

void load_figures_add(uint64_t cycles);
void load_figures_print(const char *what);

#endif
