/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the IRC server (RFC 2812): as tools/loadgen's. A message
 * that is not the last is followed by PING, whose answer says that it was
 * read. */

#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS 16u
#define WELCOME 1
#define END_OF_NAMES 366
#define FIRST_ERROR 400
#define ERRORS_END 600

static size_t write_request(const struct load_client *client, uint32_t number,
                            bool last, char *to)
{
    unsigned session = (unsigned)load_session(client);
    unsigned channel = session % CHANNELS;
    int bytes;

    if (number == 0)
        bytes = snprintf(to, LOAD_REQUEST_MAX,
                         "NICK b%u\r\nUSER loadgen 0 * :Client %u\r\n", session,
                         session);
    else if (number == 1)
        bytes = snprintf(to, LOAD_REQUEST_MAX, "JOIN #c%u\r\n", channel);
    else
        bytes = snprintf(to, LOAD_REQUEST_MAX,
                         "PRIVMSG #c%u :hello from %u\r\n%s", channel, session,
                         last ? "QUIT :and goodbye\r\n" : "PING :loadgen\r\n");
    return (size_t)bytes;
}

/* Only the numeric of a line matters, or that it is the answer to PING. */
static enum load_received of_line(struct load_text *text)
{
    const char *space = strchr(text->line, ' ');
    long code =
        text->line[0] == ':' && space != NULL ? strtol(space, NULL, 10) : 0;

    if ((text->step == 0 && code == WELCOME) ||
        (text->step == 1 && code == END_OF_NAMES)) {
        text->step++;
        return LOAD_ANSWER;
    }
    if (code >= FIRST_ERROR && code < ERRORS_END)
        return LOAD_FAILED;
    return text->step == 2 && space != NULL && strncmp(space, " PONG ", 6) == 0
               ? LOAD_ANSWER
               : LOAD_WAIT;
}

static enum load_received receive_line(struct load_client *client,
                                       const char *bytes, size_t count,
                                       size_t *taken)
{
    struct load_text *text = load_text(client);
    bool failed = false;

    if (!load_line(text, bytes, count, taken, &failed))
        return failed ? LOAD_FAILED : LOAD_WAIT;
    return of_line(text);
}

const struct load_script load_script_irc = {
    .name = "irc",
    .port = 6667,
    .requests = 1,
    .service_ends = true,
    .greetings = 2,
    .write_request = write_request,
    .receive = receive_line,
};
