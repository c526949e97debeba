/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the network. */

#include "net.h"
#include "rules.h"

#include "../options.h"

#include <stdlib.h>
#include <string.h>

#define OCTETS 4u
#define PREFIX_MAX 32u

struct net_settings net_settings = {
    .dhcp = true,
    .per_address = NET_PER_ADDRESS,
};

/* Parses a number up to (limit) at (*text) and advances it. */
static bool parse_number(const char **text, unsigned limit, uint32_t *value)
{
    char *end;
    unsigned long read;

    if (**text < '0' || **text > '9')
        return false;
    read = strtoul(*text, &end, 10);
    *text = end;
    *value = (uint32_t)read;
    return read <= limit;
}

static bool dotted(const char **text, uint32_t *ip)
{
    uint32_t octet;

    *ip = 0;
    for (unsigned i = 0; i < OCTETS; i++) {
        if (i != 0 && *(*text)++ != '.')
            return false;
        if (!parse_number(text, UINT8_MAX, &octet))
            return false;
        *ip = *ip << 8 | octet;
    }
    return true;
}

/* A.B.C.D/N or A.B.C.D/N,GATEWAY; the gateway must be on the same network. */
static bool fixed_address(const char *text)
{
    struct net_settings read = net_settings;
    uint32_t prefix;

    read.dhcp = false;
    read.gateway = 0;
    if (!dotted(&text, &read.ip) || *text++ != '/' ||
        !parse_number(&text, PREFIX_MAX, &prefix) || read.ip == 0 ||
        prefix == 0)
        return false;
    read.mask = UINT32_MAX << (PREFIX_MAX - prefix);
    if (*text == ',') {
        text++;
        if (!dotted(&text, &read.gateway) ||
            ((read.gateway ^ read.ip) & read.mask) != 0)
            return false;
    }
    if (*text != '\0')
        return false;
    net_settings = read;
    return true;
}

/* Sets (*is_second) by which of the two it is. */
static bool one_of(const char *value, const char *first, const char *second,
                   bool *is_second)
{
    if (strcmp(value, first) != 0 && strcmp(value, second) != 0)
        return false;
    *is_second = strcmp(value, second) == 0;
    return true;
}

/* kernel/load, which an image without clients in it does not have. */
bool net_load_option(const char *key, const char *value) __attribute__((weak));

bool net_option(const char *key, const char *value)
{
    if (strncmp(key, "net.load", 8) == 0)
        return net_load_option != NULL && net_load_option(key + 8, value);
    if (strcmp(key, "net.kick") == 0)
        return one_of(value, "batch", "each", &net_settings.each);
    if (strcmp(key, "net.counters") == 0)
        return one_of(value, "progress", "all", &net_settings.all_counters);
    if (strcmp(key, "net.per_address") == 0) {
        uint32_t count;

        if (!parse_number(&value, NET_CONNECTIONS, &count) || *value != '\0' ||
            count == 0)
            return false;
        net_settings.per_address = count;
        return true;
    }
    if (strcmp(key, "net.peer") == 0)
        return net_rule_option(value);
    if (strcmp(key, "net.ip") != 0)
        return false;
    if (strcmp(value, "dhcp") != 0)
        return fixed_address(value);
    net_settings.dhcp = true;
    return true;
}
