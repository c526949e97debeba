/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes. A letter is a message, which its sender has allocated: it waits to
 * be let in, is in the mailbox, or with a receiver until that has read it. So a
 * message that is not read can always be put back, without any memory.
 */

#include "internal.h"
#include "trace.h"

#include <kernel/sync.h>

struct letter {
    struct promise_link link;
    struct promise *own; /* of the sender, until it is let in */
    uintptr_t message;
};

struct receiver {
    struct promise_link link;
    struct promise *own; /* produced here */
    struct mailbox *mailbox;
    struct letter *letter; /* once it is resolved */
};

PROF_TRACE_NAME(mailbox_closed, "the mailbox is closed");

static void prepare(struct mailbox *mailbox)
{
    if (mailbox->messages.next != NULL)
        return;
    list_init(&mailbox->messages);
    list_init(&mailbox->senders);
    list_init(&mailbox->receivers);
}

/* To the trace a mailbox is an object once somebody waits for it. */
static void trace_waiter(struct mailbox *mailbox, const struct promise *own)
{
    static PROF_TRACE_SITE(site, "mailbox");

    if (!prof_trace_is_on() || promise_state(own) != PROMISE_PENDING)
        return;
    (void)task_trace_object(&mailbox->trace, PROF_TRACE_MAILBOX, &site);
    prof_trace_await(own->trace, mailbox->trace);
}

/* ---- letters */

static struct letter *first_of(struct promise_link *queue)
{
    struct promise_link *link = list_take(queue);

    return link == NULL ? NULL : LIST_OWNER(link, struct letter, link);
}

static void accept(struct letter *letter)
{
    struct promise *own = letter->own;

    letter->own = NULL;
    promise_resolve(own, 0);
}

/* Lets those in for whom there is room. */
static void let_in(struct mailbox *mailbox)
{
    while (mailbox->count < mailbox->capacity) {
        struct letter *letter = first_of(&mailbox->senders);

        if (letter == NULL)
            return;
        list_add(&mailbox->messages, &letter->link);
        mailbox->count++;
        accept(letter);
    }
}

/* The oldest letter; NULL if there is none. */
static struct letter *next_letter(struct mailbox *mailbox)
{
    struct letter *letter = first_of(&mailbox->messages);

    if (letter != NULL) {
        mailbox->count--;
        return letter;
    }
    letter = first_of(&mailbox->senders);
    if (letter != NULL)
        accept(letter);
    return letter;
}

static void put_back(struct mailbox *mailbox, struct letter *letter)
{
    list_add(mailbox->messages.next, &letter->link);
    mailbox->count++;
}

/* ---- receivers */

/* Brings letters and receivers together, as long as there are both. */
static void deliver(struct mailbox *mailbox)
{
    while (!list_empty(&mailbox->receivers) &&
           !(list_empty(&mailbox->messages) && list_empty(&mailbox->senders))) {
        struct receiver *receiver =
            LIST_OWNER(list_take(&mailbox->receivers), struct receiver, link);
        struct letter *letter = next_letter(mailbox);

        receiver->letter = letter;
        if (promise_resolve(receiver->own, letter->message))
            continue;
        put_back(mailbox, letter);
        task_free(receiver);
    }
    let_in(mailbox);
}

static void on_cancel_receive(struct promise *own, void *context)
{
    struct receiver *receiver = context;

    list_remove(&receiver->link);
    task_free(receiver);
    promise_stop(own);
}

static void on_ended_receive(void *context, uintptr_t message, bool read)
{
    struct receiver *receiver = context;

    (void)message;
    if (read) {
        task_free(receiver->letter);
    } else {
        put_back(receiver->mailbox, receiver->letter);
        deliver(receiver->mailbox);
    }
    task_free(receiver);
}

struct promise *mailbox_receive_at(struct prof_trace_name *site,
                                   struct mailbox *mailbox)
{
    static const struct promise_producer producer = {
        .kind = PROF_TRACE_MAILBOX,
        .cancel = on_cancel_receive,
        .ended = on_ended_receive,
    };
    struct receiver *receiver = task_alloc(sizeof *receiver);
    struct promise *own;

    prepare(mailbox);
    if (receiver == NULL)
        return NULL;
    own = promise_new_at(site, &producer, receiver);
    *receiver = (struct receiver){.own = own, .mailbox = mailbox};
    if (own == NULL) {
        task_free(receiver);
        return NULL;
    }
    list_add(&mailbox->receivers, &receiver->link);
    deliver(mailbox);
    if (mailbox->closed && promise_state(own) == PROMISE_PENDING) {
        list_remove(&receiver->link);
        task_free(receiver);
        promise_fail_for(own, &mailbox_closed);
    }
    trace_waiter(mailbox, own);
    return own;
}

/* ---- senders */

static void on_cancel_send(struct promise *own, void *context)
{
    struct letter *letter = context;

    list_remove(&letter->link);
    task_free(letter);
    promise_stop(own);
}

struct promise *mailbox_send_at(struct prof_trace_name *site,
                                struct mailbox *mailbox, uintptr_t message)
{
    static const struct promise_producer producer = {
        .kind = PROF_TRACE_MAILBOX,
        .cancel = on_cancel_send,
    };
    struct letter *letter;
    struct promise *own;

    prepare(mailbox);
    if (mailbox->closed)
        return promise_failed(&mailbox_closed);
    letter = task_alloc(sizeof *letter);
    if (letter == NULL)
        return NULL;
    own = promise_new_at(site, &producer, letter);
    *letter = (struct letter){.own = own, .message = message};
    if (own == NULL) {
        task_free(letter);
        return NULL;
    }
    list_add(&mailbox->senders, &letter->link);
    deliver(mailbox);
    trace_waiter(mailbox, own);
    return own;
}

/* ---- the end */

void mailbox_close(struct mailbox *mailbox)
{
    struct promise_link *link;
    struct letter *letter;

    prepare(mailbox);
    mailbox->closed = true;
    while ((letter = first_of(&mailbox->senders)) != NULL) {
        promise_fail_for(letter->own, &mailbox_closed);
        task_free(letter);
    }
    while ((link = list_take(&mailbox->receivers)) != NULL) {
        struct receiver *receiver = LIST_OWNER(link, struct receiver, link);

        promise_fail_for(receiver->own, &mailbox_closed);
        task_free(receiver);
    }
}

void mailbox_clear(struct mailbox *mailbox)
{
    struct letter *letter;

    prepare(mailbox);
    while ((letter = first_of(&mailbox->messages)) != NULL) {
        mailbox->count--;
        task_free(letter);
    }
    let_in(mailbox);
}
