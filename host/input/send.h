/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_SEND_H
#define INPUT_SEND_H

/*
 * Commands to a guest, and its answers (PROF_ANSWER_MARK of <prof/format.h>).
 *
 * A guest answers on its console, and also on the stream's connection if
 * commands arrive there; so answers are searched for in all bytes, among
 * packets and text. One command is outstanding at a time. A booting guest may
 * lose it when it resets its UART: a command is sent again each second until it
 * is answered or SEND_SECONDS have passed, SEND_SECONDS_BUSY while the guest
 * sends anything at all or is known to listen.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEND_SECONDS 10.0
#define SEND_SECONDS_BUSY 30.0
#define SEND_LINE_MAX 256

/* Finds answers in pieces of bytes. Starts as zeros and a callback. */
struct answers {
    /* gets the text after the mark, "ok start at 1000.152 Hz" */
    void (*take)(void *owner, const char *text);
    void *owner;
    uint64_t bytes; /* of answers, with the newlines around them */
    size_t matched; /* bytes of the mark */
    bool fresh;     /* the byte before was a newline */
    bool led;       /* and so was the byte before the mark */
    size_t used;
    char text[SEND_LINE_MAX];
};

void answers_feed(struct answers *answers, const void *bytes, size_t count);

enum send_state {
    SEND_WAITS,  /* for an answer */
    SEND_DONE,   /* all were answered with ok */
    SEND_FAILED, /* refused, or not answered; reported */
};

/* Commands to be sent. Starts as zeros. */
struct sender {
    int file;       /* to write to, -1 = nowhere */
    bool reads;     /* send_step() also reads it for answers */
    bool listens;   /* the guest is known to: it is slow at worst */
    bool once;      /* send nothing twice */
    double seconds; /* timeout for an answer, 0 = the two above */
    /* called with each good answer, if not NULL */
    void (*agreed)(const char *text);
    char **lines;
    size_t count;
    size_t answered;
    double begun;  /* when the present command was first sent, 0 = not yet */
    double sent;   /* when it was last sent */
    double heard;  /* when the guest last sent anything, 0 = never */
    bool accepted; /* the other end serves this connection */
    bool held_reported;
    double held_since; /* when another client was seen, 0 = not yet */
    struct answers answers;
    enum send_state state;
};

/* Adds a command, "rate 999". */
void send_add(struct sender *sender, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Starts sending the commands to (file), from the first one on. */
void send_begin(struct sender *sender, int file);

/* Asks a guest that sends already for its hello, rate and stacks. An image
 * without that command sends them now and then, and no answer. */
void send_hello_request(const struct sender *sender);

/* Examines bytes that the guest sent, on any connection. */
void send_receive(struct sender *sender, const void *bytes, size_t count);

/* Sends what is due, and reads the file if (reads); never waits. To be called
 * at least ten times a second while it returns SEND_WAITS. */
enum send_state send_step(struct sender *sender);

/* Whether the line is taken: QEMU serves another client of it. */
bool send_is_held(struct sender *sender);

/* Reports a (rate) in Hz that differs from the (requested) one. */
void send_check_rate(double requested, double rate);

void send_free(struct sender *sender);

#endif
