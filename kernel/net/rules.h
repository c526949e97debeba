/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_RULES_H
#define KERNEL_NET_RULES_H

/* Which kind of peer (agents.h) is assumed at which port. Contexts: thread. */

#include "probe.h"

#include <prof/causal.h>
#include <stdbool.h>
#include <stdint.h>

#define NET_RULES_MAX 8u /* ports */
#define NET_RULE_TEXT 120u

struct net_rule {
    uint16_t port; /* 0: all others */
    enum net_peer_kind kind;
    struct prof_agent arrivals; /* not CLOSED: what comes by itself */
    bool probed;                /* the kind is to be found out */
    struct net_probe probe;
    struct prof_assumption assumption;
    char text[NET_RULE_TEXT];
    char peers[32], come[32]; /* what is waited for */
};

/* KIND or KIND:PORT, at most one for each port; KIND may be "probe". */
bool net_rule_option(const char *value);

/* Experiments begin at (now), real time: trials too. Those of all other ports
 * wait for answers, unless it was said. */
void net_rules_start(uint64_t tsc_hz, uint64_t now);

/* A trial has ended: what it has found, for its reader; NULL: none has. */
const char *net_rules_found(void);

/* That of connections between these ports. */
struct net_rule *net_rule_of(uint16_t own, uint16_t port);

/* What is known of their traffic is forgotten, the rules are not. */
void net_rules_forget(void);

#endif
