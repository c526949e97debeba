/* SPDX-License-Identifier: Apache-2.0 */

#include "rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct net_rule rules[NET_RULES_MAX + 1]; /* the first: of all others */
static unsigned used = 1;

#define PROBED (NET_PEER_PARTLY + 1) /* an option, not a kind */

static const struct {
    const char *name, *text;
} kinds[] = {
    [NET_PEER_CLOSED] = {"closed", "peers wait for our answers (closed loop)"},
    [NET_PEER_OPEN] = {"open", "requests come by themselves (open loop)"},
    [NET_PEER_PARTLY] = {"partly", "connections come by themselves, then peers "
                                   "wait for answers"},
    [PROBED] = {"probe", NULL},
};

/* For the report; (how) it is known. */
static void state(struct net_rule *rule, const char *how)
{
    char port[16] = "";

    if (rule->port != 0)
        snprintf(port, sizeof port, ", port %u", (unsigned)rule->port);
    snprintf(rule->text, sizeof rule->text, "network%s: %s%s", port,
             kinds[rule->kind].text, how);
    rule->assumption.text = rule->text;
    prof_causal_assume(&rule->assumption);
}

static struct net_rule *rule_at(uint16_t port)
{
    unsigned i = 0;

    while (i < used && rules[i].port != port)
        i++;
    if (i > NET_RULES_MAX)
        return NULL;
    if (i == used)
        rules[used++].port = port;
    return &rules[i];
}

static void init_arrivals(struct net_rule *rule)
{
    prof_agent_init(&rule->arrivals, PROF_AGENT_OPEN, 0);
    prof_agent_assume(&rule->arrivals, &rule->assumption);
    prof_agent_name(&rule->arrivals, rule->come);
}

static void name(struct net_rule *rule)
{
    char where[16] = "the network";

    if (rule->port != 0)
        snprintf(where, sizeof where, "port %u", (unsigned)rule->port);
    snprintf(rule->peers, sizeof rule->peers, "peers at %s", where);
    snprintf(rule->come, sizeof rule->come, "arrivals at %s", where);
}

static void set(struct net_rule *rule, enum net_peer_kind kind, const char *how)
{
    rule->kind = kind;
    name(rule);
    init_arrivals(rule);
    state(rule, how);
}

/* ":PORT" or nothing, which is 0. */
static bool read_port(const char *text, uint16_t *port)
{
    unsigned long number;
    char *end;

    *port = 0;
    if (*text == '\0')
        return true;
    if (text[0] != ':' || text[1] < '1' || text[1] > '9')
        return false;
    number = strtoul(text + 1, &end, 10);
    *port = (uint16_t)number;
    return *end == '\0' && number <= UINT16_MAX;
}

static bool set_option(uint16_t port, enum net_peer_kind kind, bool probed)
{
    struct net_rule *rule = rule_at(port);

    if (rule == NULL)
        return false;
    rule->probed = probed;
    rule->probe = (struct net_probe){0};
    set(rule, kind, probed ? "; to be probed" : "");
    return true;
}

bool net_rule_option(const char *value)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool probed = i == PROBED;
        size_t bytes = strlen(kinds[i].name);
        uint16_t port;

        if (strncmp(value, kinds[i].name, bytes) == 0 &&
            read_port(value + bytes, &port))
            return set_option(
                port, probed ? NET_PEER_CLOSED : (enum net_peer_kind)i, probed);
    }
    return false;
}

struct net_rule *net_rule_of(uint16_t own, uint16_t port)
{
    struct net_rule *found = &rules[0];

    for (unsigned i = 1; i < used; i++)
        if (rules[i].port == own || rules[i].port == port)
            found = &rules[i];
    return found;
}

void net_rules_start(uint64_t tsc_hz, uint64_t now)
{
    if (rules[0].assumption.text == NULL)
        set(&rules[0], NET_PEER_CLOSED, "");
    for (unsigned i = 0; i < used; i++)
        if (rules[i].probed) {
            net_probe_begin(&rules[i].probe, tsc_hz, now);
            set(&rules[i], NET_PEER_CLOSED, "; too little traffic to probe");
        }
}

const char *net_rules_found(void)
{
    struct net_probe_result result;
    char how[32];

    for (unsigned i = 0; i < used; i++) {
        if (!net_probe_ended(&rules[i].probe, &result))
            continue;
        snprintf(how, sizeof how, "; probed: %u %% if held",
                 (unsigned)result.per_cent);
        if (result.known)
            set(&rules[i], result.kind, how);
        return rules[i].text;
    }
    return NULL;
}

void net_rules_forget(void)
{
    for (unsigned i = 0; i < used; i++) {
        init_arrivals(&rules[i]);
        rules[i].probe = (struct net_probe){0};
    }
}
