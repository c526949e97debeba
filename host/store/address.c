/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE /* strndup() */

#include "store/address.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "http://"
#define PORT "8123"
#define DATABASE "parasite"

/* The first (bytes) of (text), with %XX decoded. */
static char *decoded(const char *text, size_t bytes)
{
    char *copy = xreallocarray(NULL, bytes + 1, 1), *to = copy;

    for (size_t i = 0; i < bytes; ++i) {
        char digits[3] = {0};

        if (text[i] == '%' && i + 2 < bytes &&
            isxdigit((unsigned char)text[i + 1]) &&
            isxdigit((unsigned char)text[i + 2])) {
            memcpy(digits, text + i + 1, 2);
            *to++ = (char)strtoul(digits, NULL, 16);
            i += 2;
        } else {
            *to++ = text[i];
        }
    }
    *to = '\0';
    return copy;
}

/* Names that go into SQL as they are. */
static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        ++text;
    return *text == '\0';
}

static void add_host(struct store_address *address, const char *text,
                     size_t bytes)
{
    const char *bracket = memchr(text, ']', bytes);
    const char *after = bracket != NULL ? bracket : text;
    bool has_port = memchr(after, ':', bytes - (size_t)(after - text)) != NULL;
    char *host =
        text_format("%.*s%s", (int)bytes, text, has_port ? "" : ":" PORT);

    VECTOR_ADD(address->hosts, address->count, host);
}

/* "user:password" */
static void take_user(struct store_address *address, const char *text,
                      size_t bytes)
{
    const char *colon = memchr(text, ':', bytes);
    size_t user = colon == NULL ? bytes : (size_t)(colon - text);

    address->user = decoded(text, user);
    if (colon != NULL)
        address->password = decoded(colon + 1, bytes - user - 1);
}

/* The servers between the scheme and the path. */
static const char *take_hosts(struct store_address *address, const char *text,
                              size_t bytes)
{
    const char *at = memrchr(text, '@', bytes), *end = text + bytes;

    if (at != NULL) {
        take_user(address, text, (size_t)(at - text));
        text = at + 1;
    }
    for (const char *host = text;; ++host) {
        const char *comma = memchr(host, ',', (size_t)(end - host));
        size_t length = (size_t)((comma == NULL ? end : comma) - host);

        if (length == 0)
            return "a host is missing";
        add_host(address, host, length);
        if (comma == NULL)
            return NULL;
        host = comma;
    }
}

static const char *take_query(struct store_address *address, const char *query)
{
    if (strncmp(query, "cluster=", strlen("cluster=")) != 0)
        return "only ?cluster=NAME may follow";
    query += strlen("cluster=");
    address->cluster = decoded(query, strlen(query));
    return is_name(address->cluster)
               ? NULL
               : "a cluster's name has letters, digits and _ only";
}

static const char *parse_servers(struct store_address *address,
                                 const char *text)
{
    size_t bytes = strcspn(text, "/?");
    const char *problem = take_hosts(address, text, bytes);
    const char *path = text + bytes;

    if (problem != NULL)
        return problem;
    if (*path == '/') {
        bytes = strcspn(++path, "/?");
        if (bytes > 0)
            address->database = decoded(path, bytes);
        path += bytes;
        if (*path == '/' && path[1] != '\0' && path[1] != '?')
            return "a database has one name";
        path += *path == '/';
    }
    if (*path == '?')
        problem = take_query(address, path + 1);
    if (problem == NULL && address->count > 1 && address->cluster == NULL)
        return "several hosts need ?cluster=NAME, what their configuration "
               "calls them together";
    return problem;
}

/* The name for messages: all but what is between the first : and the last @. */
static char *name_of(const char *text)
{
    const char *begin = text + strlen(SCHEME);
    size_t bytes = strcspn(begin, "/?");
    const char *at = memrchr(begin, '@', bytes);
    const char *colon =
        at == NULL ? NULL : memchr(begin, ':', (size_t)(at - begin));

    if (colon == NULL)
        return xstrdup(text);
    return text_format("%.*s%s", (int)(colon - text), text, at);
}

static const char *parse(struct store_address *address, const char *text)
{
    const char *problem;
    const char *password = getenv("PARASITE_STORE_PASSWORD");

    if (strncmp(text, SCHEME, strlen(SCHEME)) == 0) {
        address->name = name_of(text);
        problem = parse_servers(address, text + strlen(SCHEME));
        if (problem == NULL && address->password == NULL && password != NULL)
            address->password = xstrdup(password);
    } else if (strstr(text, "://") != NULL) {
        address->name = xstrdup(text);
        problem = "a store is a folder or http://HOST";
    } else {
        problem = NULL;
        if (strncmp(text, "store:", strlen("store:")) == 0)
            text += strlen("store:");
        address->name = xstrdup(text);
        address->folder = xstrdup(text);
        VECTOR_ADD(address->hosts, address->count, xstrdup("localhost"));
        if (*text == '\0')
            problem = "a folder is missing";
    }
    if (problem != NULL)
        return problem;
    if (address->database == NULL)
        address->database = xstrdup(DATABASE);
    return is_name(address->database)
               ? NULL
               : "a database's name has letters, digits and _ only";
}

bool store_address_parse(struct store_address *address, const char *text,
                         char *why, size_t room)
{
    const char *problem;

    *address = (struct store_address){0};
    problem = parse(address, text);
    if (problem != NULL)
        snprintf(why, room, "%s: %s", address->name, problem);
    return problem == NULL;
}

void store_address_free(struct store_address *address)
{
    for (unsigned i = 0; i < address->count; ++i)
        free(address->hosts[i]);
    free(address->hosts);
    free(address->folder);
    free(address->user);
    free(address->password);
    free(address->database);
    free(address->cluster);
    free(address->name);
    *address = (struct store_address){0};
}
