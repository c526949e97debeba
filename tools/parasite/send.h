/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEND_H
#define SEND_H

/*
 * Commands to a guest, and its answers (PROF_ANSWER_MARK of <prof/format.h>).
 *
 * A guest answers on its console, and where commands come in on the stream's
 * own line on that one too; so answers are looked for in whatever bytes come,
 * among packets as well as among text. One command is under way at a time. A
 * guest that is just booting may lose it with its UART's reset: a command is
 * sent again each second until it is answered or SEND_SECONDS are over.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEND_SECONDS 10.0
#define SEND_LINE_MAX 256

/* Finds answers in bytes that come in pieces. Starts as zeros and a taker. */
struct answers {
    /* told the text behind the mark, "ok start at 1000.152 Hz" */
    void (*take)(void *owner, const char *text);
    void *owner;
    uint64_t bytes; /* of answers, with the newlines around them */
    size_t matched; /* bytes of the mark */
    bool fresh;     /* the byte before was a newline */
    bool led;       /* and so was the one before the mark */
    size_t used;
    char text[SEND_LINE_MAX];
};

void answers_feed(struct answers *answers, const void *bytes, size_t count);

enum send_state {
    SEND_WAITS,  /* for an answer */
    SEND_DONE,   /* all were answered with ok */
    SEND_FAILED, /* one was refused, or not answered; it has been said */
};

/* Commands on their way. Starts as zeros. */
struct sender {
    int file;       /* to write to, -1 = nowhere */
    bool reads;     /* it is also to be read for answers, by send_step() */
    bool once;      /* nothing is sent a second time */
    double seconds; /* to wait for an answer, 0 = SEND_SECONDS */
    /* told each good answer, if it is not NULL */
    void (*agreed)(const char *text);
    char **lines;
    size_t count;
    size_t answered;
    double begun; /* when the present one was first sent, 0 = not yet */
    double sent;  /* when it was last sent */
    struct answers answers;
    enum send_state state;
};

/* Adds a command, "rate 999". */
void send_add(struct sender *sender, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The commands are to be sent to (file), from the first one on. */
void send_begin(struct sender *sender, int file);

/* Asks a guest that sends already for its hello, its rate and its stacks. No
 * answer is waited for: an image that does not know the command sends them now
 * and then anyway. */
void send_greeting(const struct sender *sender);

/* Looks at bytes that the guest sent, on whichever line. */
void send_hear(struct sender *sender, const void *bytes, size_t count);

/* Sends what is due, and reads the file if it is this one's to read; never
 * waits. To be called at least every tenth of a second, until it is no longer
 * SEND_WAITS. */
enum send_state send_step(struct sender *sender);

void send_free(struct sender *sender);

#endif
