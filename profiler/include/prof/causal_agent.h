/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_AGENT_H
#define PROF_CAUSAL_AGENT_H

/*
 * Agents of causal profiling (<prof/causal.h>). An agent stands for a device or
 * a peer, which answers from outside the program in its own real time. Its kind
 * determines when an answer would have arrived if the target were faster:
 *
 *   PARALLEL  Any number of requests at a time, none of which delays another:
 *             due = virtual time of the cause + real time taken.
 *   SERVERS   A queue with a number of servers: a request begins when it is
 *             caused or when a server is free, whichever is later. It takes the
 *             same time in virtual time as in real time.
 *   CLOSED    A peer that sends after it has received from us, or some time
 *             after its own last packet: the cause is the later of the two.
 *   OPEN      A peer that sends at times of its own choice: the intervals
 *             between its packets do not change.
 *
 * The kind MUST match the device or peer. If a device that processes requests
 * in parallel is declared a queue, gains are underestimated; in the reverse
 * case they are overestimated. Answers that contradict the kind are counted
 * (prof_causal_stats()). Contexts: thread on the first CPU.
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

/* A point in time, by both clocks, in TSC cycles. */
struct prof_moment {
    uint64_t real; /* TSC */
    uint64_t virtual_time;
};

/* A request to a device, in the memory of its driver until it is answered. */
struct prof_request {
    struct prof_moment cause;  /* when it was submitted */
    struct prof_request *next; /* private: in the device's queue */
    uint64_t begin;            /* private: real time; 0: still queued */
    uint32_t server;           /* private */
};

/* One server of a device. */
struct prof_server {
    bool busy;
    uint64_t free; /* virtual time at which it is or was free */
};

/* The agent of one device or one connection. All members are private. */
struct prof_agent {
    enum prof_agent_kind kind;
    bool asked; /* CLOSED: we have sent to it since its last packet */
    struct prof_target *target;         /* its work; NULL: no target */
    struct prof_assumption *assumption; /* checked by its answers, or NULL */
    const char *name;                   /* by prof_agent_name(), or NULL */
    uint32_t source;         /* source of waits for it (waited.h); 0: not known
                                yet */
    uint32_t direct;         /* (source), unless it is SERVERS or OPEN, or a
                                target; else 0 */
    struct prof_moment last; /* CLOSED, OPEN: its last packet; real 0: none */
    union {
        struct { /* SERVERS */
            uint32_t servers;
            struct prof_server server[PROF_AGENT_SERVERS_MAX];
            struct prof_request *first; /* of the queue */
            struct prof_request *newest;
        } queue;
        struct { /* CLOSED: our last packets to it, the latest at (newest), each
                    followed by the one before it, cyclically */
            struct prof_moment at[PROF_AGENT_SENT_MAX];
            uint32_t newest;
        } sent;
    } of;
    uint32_t epoch; /* OPEN: earlier packets are not used (causal.c) */
};

/* Initialises (agent). (servers), for SERVERS only, is limited to 1 to
 * PROF_AGENT_SERVERS_MAX. */
void prof_agent_init(struct prof_agent *agent, enum prof_agent_kind kind,
                     uint32_t servers);

/* Makes the agent's work a target: the time during which it has a request, or,
 * for CLOSED, from our packet to its own. Several agents may have the same
 * (target). The loop MUST then wait as prof_causal_owes() requires. To be
 * called after prof_agent_init(). */
void prof_agent_target(struct prof_agent *agent, struct prof_target *target);

/* Names the agent for the table of waits, as in "waiting for the disk". (name)
 * MUST remain valid; several agents may have the same. To be called after
 * prof_agent_init(). */
static inline void prof_agent_name(struct prof_agent *agent, const char *name)
{
    agent->name = name;
    agent->source = agent->direct = 0;
}

/* PARALLEL, SERVERS: reports that (request) was submitted at (now), the time of
 * the doorbell. */
void prof_agent_submit(struct prof_agent *agent, struct prof_request *request,
                       struct prof_moment now);

/* PARALLEL, SERVERS: returns the virtual time at which the answer to (request)
 * is due, which arrived at TSC value (arrived), read in the interrupt. To be
 * called in the order of arrival. */
uint64_t prof_agent_answer(struct prof_agent *agent,
                           struct prof_request *request, uint64_t arrived);

/* CLOSED, OPEN: reports that we have sent a packet at (sent), the time of the
 * doorbell. */
void prof_agent_sent(struct prof_agent *agent, struct prof_moment sent);

/* CLOSED, OPEN: returns the virtual time at which the agent's packet is due,
 * which arrived at TSC value (arrived), virtual time (now). That is (now) if
 * the cause of the packet is unknown. */
uint64_t prof_agent_packet(struct prof_agent *agent, uint64_t arrived,
                           uint64_t now);

/* Abandons the current experiment, as there is no memory to hold an answer. */
void prof_causal_refuse(void);

/* An assumption on which results are based, such as the kind of an agent. */
struct prof_assumption {
    const char *text;             /* may be changed at any time */
    struct prof_assumption *next; /* private */
    bool added;                   /* private */
    uint64_t checked;             /* private: answers of its agents checked */
    uint64_t contradictions; /* private: of these, answers that contradict it */
};
#define PROF_ASSUMPTION(text)                                                  \
    {                                                                          \
        text, 0, false, 0, 0                                                   \
    }

/* Adds (assumption), which MUST remain valid, to those that the report lists.
 * No effect if it was added before. */
void prof_causal_assume(struct prof_assumption *assumption);

/* Counts answers that contradict the agent's kind with (assumption), which
 * several agents may share. To be called after prof_agent_init(). */
static inline void prof_agent_assume(struct prof_agent *agent,
                                     struct prof_assumption *assumption)
{
    agent->assumption = assumption;
}

#ifdef __cplusplus
}
#endif

#endif
