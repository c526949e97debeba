/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_AGENT_H
#define PROF_CAUSAL_AGENT_H

/*
 * An agent is what answers from outside, in its own real time. When would its
 * answer have arrived if the target were faster? It depends on the kind:
 *
 *   PARALLEL  any number of requests at a time, each as long as alone:
 *             due = virtual time of the cause + real time that it took
 *   SERVERS   a queue with so many servers: a request begins when it is
 *             caused or when a server is free, whichever is later. Virtual
 *             servers take as long as the real ones, for the same requests.
 *   CLOSED    a peer that sends when it has heard from us, or a while after
 *             what it sent last: caused by the later of the two
 *   OPEN      a peer that sends at times of its own choice: the intervals
 *             between its packets remain as they are
 *
 * The kind must be right: a device that can do many things at a time and is
 * taken for a queue promises too little, the reverse too much. Answers that the
 * kind excludes are counted (prof_causal_stats()). Contexts: thread; one CPU.
 */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prof_target; /* <prof/causal.h> */
struct prof_assumption;

enum prof_agent_kind {
    PROF_AGENT_PARALLEL,
    PROF_AGENT_SERVERS,
    PROF_AGENT_CLOSED,
    PROF_AGENT_OPEN,
};

#define PROF_AGENT_SERVERS_MAX 8u
#define PROF_AGENT_SENT_MAX 4u

/* The same event by both clocks. */
struct prof_moment {
    uint64_t real; /* TSC */
    uint64_t virtual_time;
};

/* A request to a device, in the memory of its driver until it is answered. */
struct prof_request {
    struct prof_moment cause;  /* when it was submitted */
    struct prof_request *next; /* private: in the device's queue */
    uint64_t begin;            /* private: real time; 0: it is in the queue */
    uint32_t server;           /* private */
};

/* One server of a device. */
struct prof_server {
    bool busy;
    uint64_t free; /* virtual time at which it is or was free */
};

/* Of one device, or of one connection. */
struct prof_agent {
    enum prof_agent_kind kind;
    bool asked; /* CLOSED: it has been sent something since its last packet */
    struct prof_target *target;         /* NULL, or what it does */
    struct prof_assumption *assumption; /* NULL, or what its answers check */
    const char *name;                   /* NULL, or prof_agent_name() */
    uint32_t source;                    /* private: what waiting for it is
                                           (waited.h); 0: not known yet */
    uint32_t direct;         /* private: the same if it is neither SERVERS nor
                                OPEN, and no target; else 0 */
    struct prof_moment last; /* CLOSED, OPEN: its last packet; real 0: none */
    union {
        struct { /* SERVERS */
            uint32_t servers;
            struct prof_server server[PROF_AGENT_SERVERS_MAX];
            struct prof_request *first; /* of the queue */
            struct prof_request *newest;
        } queue;
        struct { /* CLOSED: our last packets to it, the latest at (newest), the
                    one before it in the next place */
            struct prof_moment at[PROF_AGENT_SENT_MAX];
            uint32_t newest;
        } sent;
    } of;
    uint32_t epoch; /* OPEN: packets before it say nothing (causal.c) */
};

/* (servers) matters for SERVERS only: 1 to PROF_AGENT_SERVERS_MAX, which it is
 * limited to. */
void prof_agent_init(struct prof_agent *agent, enum prof_agent_kind kind,
                     uint32_t servers);

/* What the agent does is (target): the time in which it has a request, or of
 * CLOSED, from our packet to its own. Several agents may have one. After
 * prof_agent_init(). The loop has to let handlers pay (prof_causal_owes()). */
void prof_agent_target(struct prof_agent *agent, struct prof_target *target);

/* The agent is called (name) where the table says what is waited for, as in
 * "waiting for the disk". It MUST remain valid, and several agents may have it.
 * After prof_agent_init(). */
static inline void prof_agent_name(struct prof_agent *agent, const char *name)
{
    agent->name = name;
    agent->source = agent->direct = 0;
}

/* PARALLEL, SERVERS: (request) is submitted at (now), that of the doorbell. */
void prof_agent_submit(struct prof_agent *agent, struct prof_request *request,
                       struct prof_moment now);

/* Due time of the answer to (request), which arrived at (arrived), by the time
 * stamp of the interrupt. In the order of arrival. */
uint64_t prof_agent_answer(struct prof_agent *agent,
                           struct prof_request *request, uint64_t arrived);

/* CLOSED, OPEN: we have sent it something, at the doorbell. */
void prof_agent_sent(struct prof_agent *agent, struct prof_moment sent);

/* Due time of its packet that arrived at (arrived): (now), the virtual time of
 * that, if nothing is known to have caused it. */
uint64_t prof_agent_packet(struct prof_agent *agent, uint64_t arrived,
                           uint64_t now);

/* There was no memory to hold an answer: this experiment is abandoned. */
void prof_causal_refuse(void);

/* What results rest on, such as the kind of an agent. Adds one, which MUST
 * remain valid; again has no effect. Its text may change. */
struct prof_assumption {
    const char *text;
    struct prof_assumption *next; /* private */
    bool added;                   /* private */
    uint64_t checked;        /* private: answers of its agents that could */
    uint64_t contradictions; /* contradict it, and those that did */
};
#define PROF_ASSUMPTION(text)                                                  \
    {                                                                          \
        text, 0, false, 0, 0                                                   \
    }
void prof_causal_assume(struct prof_assumption *assumption);

/* Answers that contradict the agent's kind are counted with (assumption), which
 * several agents may have. After prof_agent_init(). */
static inline void prof_agent_assume(struct prof_agent *agent,
                                     struct prof_assumption *assumption)
{
    agent->assumption = assumption;
}

#ifdef __cplusplus
}
#endif

#endif
