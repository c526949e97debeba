/* SPDX-License-Identifier: Apache-2.0 */
/* What clients of the web server ask for (RFC 9112), and the answers: 200, and
 * a body whose length the header says. */

#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LENGTH "Content-Length:"

enum step { STATUS, HEADER, BODY };

static size_t write_request(const struct load_client *client, uint32_t number,
                            bool last, char *to)
{
    (void)client;
    (void)number;
    (void)last;
    return (size_t)snprintf(to, LOAD_REQUEST_MAX,
                            "GET %s HTTP/1.1\r\nHost: 10.0.2.15\r\n\r\n",
                            load_settings.path);
}

static enum load_received of_line(struct load_text *text)
{
    if (text->step == STATUS) {
        if (strncmp(text->line, "HTTP/1.1 200", 12) != 0)
            return LOAD_FAILED;
        text->step = HEADER;
        text->rest = 0;
    } else if (text->line[0] == '\0') {
        text->step = text->rest == 0 ? STATUS : BODY;
        return text->rest == 0 ? LOAD_ANSWER : LOAD_WAIT;
    } else if (strncasecmp(text->line, LENGTH, sizeof LENGTH - 1) == 0) {
        text->rest =
            (uint32_t)strtoul(text->line + sizeof LENGTH - 1, NULL, 10);
    }
    return LOAD_WAIT;
}

static enum load_received receive_response(struct load_client *client,
                                           const char *bytes, size_t count,
                                           size_t *taken)
{
    struct load_text *text = load_text(client);
    bool failed = false;

    if (text->step != BODY) {
        if (!load_line(text, bytes, count, taken, &failed))
            return failed ? LOAD_FAILED : LOAD_WAIT;
        return of_line(text);
    }
    *taken = count < text->rest ? count : text->rest;
    text->rest -= (uint32_t)*taken;
    if (text->rest != 0)
        return LOAD_WAIT;
    text->step = STATUS;
    return LOAD_ANSWER;
}

const struct load_script load_script_http = {
    .name = "http",
    .port = 80,
    .requests = 100,
    .write_request = write_request,
    .receive = receive_response,
};
