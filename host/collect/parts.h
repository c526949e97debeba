/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_PARTS_H
#define COLLECT_PARTS_H

/* What the files of the collector share. */

#include "collect/build.h"
#include "collect/collector.h"
#include "collect/rollup.h"
#include "input/send.h"
#include "input/shared_ring.h"
#include "input/target.h"
#include "trace/console.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>

#define UUID_BYTES 16
#define NAME_MAX_BYTES 128
#define FIRST_LINE_MAX 512
#define RAW_KEPT (1u << 14) /* bytes of a guest's packets before they go out */

/* Counts of all CPUs of a guest, minutes that are open included. */
struct live_counts {
    int64_t at; /* UTC in ms, 0 = none */
    uint64_t ticks, idle, lost;
};

/* Whose guests they are: who has a token; without one, the sources of a
 * service. */
struct owner {
    bool sends;     /* it may have guests */
    size_t guests;  /* in the register */
    unsigned boots; /* new ones in this minute */
    int64_t minute; /* which that is */
};

/* One boot of a guest. */
struct guest_boot {
    uint8_t uuid[UUID_BYTES];
    struct rollup rollup;
    struct build *build;               /* NULL = no hello came */
    char service[NAME_MAX_BYTES];      /* "" = not known yet */
    char line_service[NAME_MAX_BYTES]; /* of its line, "" = none */
    char where[NAME_MAX_BYTES];        /* its line */
    uint64_t id;                       /* 0 = not known yet */
    struct line *line;                 /* that sent last, NULL = it is closed */
    int64_t begun, last_seen;          /* UTC in seconds */
    bool sent;                         /* the store knows it, with */
    uint32_t sent_mhz;
    size_t sent_cpus;

    const struct collector_token *token; /* of its line, NULL = none */
    struct owner *owner;
    uint64_t moves; /* to another line, while the one before was there */
    uint64_t excess_packets, excess_bytes;
    uint64_t samples, idle, dropped, lost, missed; /* in closed buckets */
    uint64_t rows;

    uint8_t *raw; /* packets, before they are written */
    size_t raw_bytes;
    int64_t raw_begun;          /* of the file, UTC in seconds */
    struct captured *capture;   /* NULL = none is going on */
    struct live_counts live[2]; /* of 5 to 10 s ago, of up to 5 s ago */
};

enum handle_kind {
    HANDLE_LISTENER,
    HANDLE_LINE,
    HANDLE_READER,
    HANDLE_WAKE,
};

/* What epoll tells about; the first member of each of the following. */
struct handle {
    enum handle_kind kind;
    int file; /* -1 = closed */
};

struct listener {
    struct handle handle;
    const struct collector_source *source;
    bool tcp;
    char *path;        /* of a local socket, to be removed; NULL = none */
    struct stat about; /* which it is */
    bool rests;        /* until the next second, for want of files */
};

/* A connection, or RAM, with a guest's stream. */
struct line {
    struct handle handle;
    struct collector *collector;
    const struct collector_source *source; /* NULL = closed for good */
    char name[NAME_MAX_BYTES];
    char service[NAME_MAX_BYTES]; /* "" = none */
    const struct collector_token *token;
    bool accepted; /* a connection to a listener */
    bool tcp;
    bool undecided; /* the first line has not come */
    bool two_way;
    bool ram;
    bool gone;    /* to be freed */
    bool scanned; /* of a pattern: forgotten when its file is gone */
    char first[FIRST_LINE_MAX];
    size_t first_bytes;
    struct scanner scanner;
    struct console console;
    struct answers answers;
    struct guest_boot *guest; /* the last one, NULL = none */
    uint64_t allowance;       /* bytes that may still come in this second */
    uint64_t backlog;         /* of RAM, and besides: what was in it before */
    int64_t allowed;          /* which second that is */
    unsigned boots;           /* new ones that it brought in this minute */
    int64_t minute;           /* which that is */
    int64_t begun;            /* of a connection, steady_ms() */
    char *path;               /* of RAM */
    struct shared_ring share;
    ino_t inode, backlog_of; /* of RAM: now, and when (backlog) was set */
    int64_t tried;           /* when RAM was last looked for, steady_ms() */
    uint64_t searched;       /* of it, while that goes on */
    unsigned tries;
    uint64_t bytes;
    uint64_t garbage; /* of scanners before */
    unsigned connections;
    /* of a target: a thread connects */
    bool connecting;
    bool is_file; /* it has an end */
    struct target opened;
    bool fine;
    double took;         /* seconds */
    unsigned slow_tries; /* in vain, one after the other, and for long */
    char why[TARGET_WHY_MAX];
    char problem[TARGET_WHY_MAX]; /* the last that was printed */
    double again;                 /* when to try next, seconds_now() */
};

#define READER_ROOM (1u << 20) /* bytes that wait for a slow reader */

struct reader {
    struct handle handle;
    struct guest_boot *guest;
    char line[SEND_LINE_MAX];
    size_t line_bytes;
    uint8_t *out;
    size_t out_bytes, out_sent;
    bool watches_out;
    bool silent;      /* it will send nothing more, and takes an answer */
    bool ending;      /* closed when all is sent; it has no guest */
    int64_t begun;    /* steady_ms(), of an answer when some was last taken */
    uint32_t capture; /* whose end it waits for, 0 = none */
    int from;         /* a file that follows (out), -1 = none */
};

/* What a capture has of one guest; the order's, and outlives the guest. */
struct captured {
    struct capture_order *order;
    struct guest_boot *guest; /* that is captured now, NULL = none */
    uint8_t uuid[UUID_BYTES];
    uint64_t id;
    char where[NAME_MAX_BYTES];
    FILE *to; /* NULL = closed */
    bool two_way;
    bool ended;         /* before the capture did */
    bool traced_before; /* its recorder was on */
    uint32_t mhz;       /* its rate before, 0 = unknown */
    uint64_t packets, bytes;
    uint64_t left_out; /* packets beyond the capture's budget */
    unsigned tries;
    bool rate_agreed, trace_agreed;
    char why[NAME_MAX_BYTES]; /* it refused or could not be opened, "" = no */
};

/* A capture of guests of a service, at a whole second. Before captures_add()
 * (end) is how many seconds it takes, (begin) 0 as soon as may be. */
struct capture_order {
    uint32_t id; /* not 0 */
    char service[NAME_MAX_BYTES];
    char names[FIRST_LINE_MAX]; /* of guests, with commas; "" = all */
    int64_t begin, end;         /* UTC in seconds */
    unsigned rate, rate_now;
    bool tasks, tasks_now;            /* with the recorder */
    unsigned lowered;                 /* times that it was beyond its budget */
    uint64_t budget;                  /* bytes a second of all guests */
    uint64_t bytes;                   /* that are kept */
    uint64_t offered;                 /* that came, in this second */
    int64_t second;                   /* of them */
    char missing[FIRST_LINE_MAX + 1]; /* names that no guest has */
    bool running;
    char folder[48];
    struct captured **guests;
    size_t guest_count;
};

struct counters {
    uint64_t packets, packet_bytes, repeated, unread, after_bye, moves;
    uint64_t connections, refused_connections, refused_guests, unopened;
    uint64_t excess_packets, buckets, rows, commands, reader_bytes,
        reader_dropped, raw_bytes, raw_failed, ended_guests, shrunk,
        refused_for_memory, refused_for_share;
};

#define DIALERS 16       /* threads that connect, of which so many do to */
#define DIALERS_SLOW 12u /* targets that were down */

struct collector {
    struct collector_options options;
    char host[NAME_MAX_BYTES];
    int epoll, wake;
    pthread_mutex_t lock; /* held but for waits: metrics are read by others */
    struct listener **listeners;
    size_t listener_count;
    struct line **lines;
    size_t line_count;
    struct reader **readers;
    size_t reader_count;
    struct guest_boot **guests;
    size_t guest_count;
    struct owner *owners; /* of tokens, then of sources */
    size_t owner_count, sender_count;
    int64_t moves_said; /* when two lines of a guest were reported, minutes */
    struct builds builds;
    struct store_batches batches;
    uint64_t lost_batches; /* that were noticed */
    struct counters counters;
    struct capture_order **captures;
    size_t capture_count;
    uint32_t capture_last;             /* id */
    int64_t ticked;                    /* UTC in seconds */
    int64_t scanned, pruned, budgeted; /* of steady_ms(), in seconds */
    uint64_t memory;                   /* bytes that guests and readers hold */
    bool is_full;                      /* that is above the limit */
    bool state_due;                    /* buckets were closed */
    bool state_new;        /* guests came, or it could not be written */
    bool state_failed;     /* the last time, and that was reported */
    struct kept_cpu *kept; /* guests that are gone, (kept_count) of them */
    size_t kept_count;

    /* of the threads that connect */
    pthread_t dialers[DIALERS];
    pthread_mutex_t dial_lock;
    pthread_cond_t dial;
    struct line **to_dial, **dialled;
    size_t to_dial_count, dialled_count;
    unsigned slow_dials; /* of targets that were down, going on */
    bool ending;
};

int64_t now_ms(void);    /* UTC */
int64_t steady_ms(void); /* whatever becomes of UTC: for differences only */

/* Whether a file can be opened for others, with some left for the spool, the
 * state and the store; else errno says that there are too many. */
bool files_remain(const struct collector *collector);

/* ---- guests.c: the register */

/* Notes who may have guests, by the options. */
void guests_open(struct collector *collector);
/* A packet that came by (line). */
void guests_take(struct line *line, const struct packet *packet);
struct guest_boot *guests_find(struct collector *collector, const char *name,
                               const char **why);
/* Bytes that may come by (line) now. RAM is to be read no faster: what is there
 * waits, where what a socket sends is lost. */
uint64_t guests_allowance(struct line *line);
void guests_tick(struct collector *collector, int64_t now);
/* Bytes that the tables of all guests may take. */
uint64_t guests_memory_limit(const struct collector *collector);
void guests_close_all(struct collector *collector);
void guests_free(struct collector *collector);
/* (line) has nothing to do with its guest any more. */
void guests_leave(struct line *line);
/* Whether the guest is of (service), by its image or by what it was announced
 * as. */
bool guest_serves(const struct guest_boot *guest, const char *service);
/* Whether (name) means the guest: its service, line, or the first digits of its
 * number or boot. */
bool guest_is_named(const struct guest_boot *guest, const char *name);
/* Sends (command) to the guest, as far as its line takes commands. */
bool guest_command(struct collector *collector, struct guest_boot *guest,
                   const char *command);

/* Asks the guest to sample (hz) times a second. */
void guest_set_rate(struct collector *collector, struct guest_boot *guest,
                    unsigned hz);

/* ---- hand_over.c: buckets to the store */

/* Gives it its service and number, which it keeps. */
void guest_name(struct collector *collector, struct guest_boot *guest);
void hand_over(struct collector *collector, struct guest_boot *guest,
               const struct rollup_bucket *bucket);
void hand_over_loss(struct collector *collector, struct guest_boot *guest,
                    const char *why, const char *what, uint64_t rows,
                    uint64_t amount, int64_t bucket);

/* ---- pushes.c */

/* A closed bucket of a guest to the other system of the options, if any. */
void pushes_minute(struct collector *collector, struct guest_boot *guest,
                   const struct rollup_bucket *bucket,
                   const struct store_key *key);

/* ---- lines.c */

void lines_open(struct collector *collector);
void lines_event(struct collector *collector, struct handle *handle,
                 uint32_t events);
/* (now): steady_ms() */
void lines_tick(struct collector *collector, int64_t now);
/* RAM and files, of which epoll knows nothing: whether there are any. */
bool lines_poll(struct collector *collector);
/* Whether a guest may still come. */
bool lines_remain(const struct collector *collector);
void lines_sweep(struct collector *collector);
void lines_close(struct collector *collector);
void watch(struct collector *collector, struct handle *handle, uint32_t events,
           bool is_new);
void unwatch_and_close(struct collector *collector, struct handle *handle);
bool token_allows(const struct collector *collector, const char *token,
                  const struct collector_token **found);

/* ---- dial.c: in which order targets are connected to */

/* The number of the next of these, while (slow) threads connect to such that
 * were down; (count) = none. */
size_t dial_next(struct line *const *lines, size_t count, unsigned slow);
/* Seconds to the next try, after one that (took) so many and went as the line
 * says. */
double dial_pause(struct line *line, double took);

/* ---- readers.c */

void readers_add(struct collector *collector, int file,
                 struct guest_boot *guest);
/* Sends (count) bytes on (file), which then is closed. */
void readers_answer(struct collector *collector, int file, const void *bytes,
                    size_t count);
/* The same of a (from) file that follows a line; both are closed. */
void readers_send_file(struct collector *collector, int file, const char *line,
                       int from);
/* (file) waits for the end of a capture, after a line. */
void readers_await(struct collector *collector, int file, const char *line,
                   uint32_t capture);
/* Who waits for it, NULL = nobody any more. */
struct reader *readers_of_capture(struct collector *collector,
                                  uint32_t capture);
/* What it waited for; then it is closed. */
void readers_tell(struct collector *collector, struct reader *reader,
                  const void *bytes, size_t count);
void readers_event(struct collector *collector, struct reader *reader,
                   uint32_t events);
void readers_pass(struct collector *collector, struct guest_boot *guest,
                  const void *bytes, size_t count);
void readers_leave(struct collector *collector, const struct guest_boot *guest);
void readers_sweep(struct collector *collector);
void readers_close(struct collector *collector);

/* ---- status.c: collector_guests() for whoever has the lock */

/* What rates of the live page are from. */
void live_note(struct guest_boot *guest, int64_t now);

bool collector_guests_locked(struct collector *collector, FILE *out);

/* ---- raw.c */

void raw_take(struct collector *collector, struct guest_boot *guest,
              const struct packet *packet);
void raw_flush(struct collector *collector, struct guest_boot *guest);
void raw_prune(struct collector *collector, int64_t now);

/* ---- state.c: where each guest was, for the next run */

struct kept_cpu {
    uint8_t uuid[UUID_BYTES];
    uint16_t cpu;
    uint32_t sequence;
    uint64_t last, discarded;
    uint32_t rate_mhz;
    int64_t closed_to; /* of the guest's buckets, UTC in seconds */
    uint64_t loop;     /* counts of the guest's event loop in them */
    bool has_loop;     /* (loop) is known: a process before noted it */
    bool ended;        /* it has said bye */
    int64_t since;     /* when it was forgotten, or read from the file, in
                        * seconds of steady_ms() */
    bool taken;        /* the guest is in the register again */
};

/* Also has the store commit or drop what the run before has staged. */
void state_read(struct collector *collector);

/* Writes the file, and has the store commit what is staged; where the file
 * cannot be written, both are still due. */
void state_write(struct collector *collector);

/* Notes a guest that is forgotten, all of whose buckets are closed. */
void state_keep(struct collector *collector, const struct guest_boot *guest);
void state_restore(struct collector *collector, struct guest_boot *guest);

/* ---- orders.c: budgets */

/* (now): seconds of steady_ms() */
void orders_tick(struct collector *collector, int64_t now);

/* ---- captures.c */

/* Adds the capture that is (wanted), of which zeros are the defaults. Returns
 * what is wrong with it, or NULL, and its number and folder. */
const char *captures_add(struct collector *collector,
                         const struct capture_order *wanted, uint32_t *id,
                         const char **folder);
void captures_tick(struct collector *collector, int64_t now);
/* Ends all of them, which sets rates and recorders back. */
void captures_end(struct collector *collector);
void captures_take(struct guest_boot *guest, const struct packet *packet);
/* The guest has answered a command, "ok rate 997". */
void captures_answer(struct guest_boot *guest, const char *text);
/* It is about to be forgotten. */
void captures_leave(struct guest_boot *guest);
/* Opens the packets of the guest with (boot), in hex, of the capture (name);
 * -1: there are none, with errno. */
int captures_open(const struct collector *collector, const char *name,
                  const char *boot);

#endif
