/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_RULES_H
#define KERNEL_NET_RULES_H

/* Which kind of peer (agents.h) is assumed at which port. Contexts: thread. */

#include <prof/causal.h>
#include <stdbool.h>
#include <stdint.h>

enum net_peer_kind { NET_PEER_CLOSED, NET_PEER_OPEN, NET_PEER_PARTLY };

#define NET_RULES_MAX 8u /* ports */
#define NET_RULE_TEXT 80u

struct net_rule {
    uint16_t port; /* 0: all others */
    enum net_peer_kind kind;
    struct prof_agent arrivals; /* not CLOSED: what comes by itself */
    struct prof_assumption assumption;
    char text[NET_RULE_TEXT];
};

/* KIND or KIND:PORT, at most one for each port. */
bool net_rule_option(const char *value);

/* Those of all other ports wait for answers, unless it was said. */
void net_rules_start(void);

/* That of connections between these ports. */
struct net_rule *net_rule_of(uint16_t own, uint16_t port);

/* What is known of their traffic is forgotten, the rules are not. */
void net_rules_forget(void);

#endif
