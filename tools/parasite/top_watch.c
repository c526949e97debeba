/* SPDX-License-Identifier: Apache-2.0 */
/* The two loops of top: with keys and a screen, and table after table. */

#include "top_watch.h"

#include "ending.h"
#include "parasite.h"
#include "screen.h"
#include "seconds.h"
#include "talk.h"
#include "top_print.h"
#include "top_screen.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEYS_WAIT_MS 100

/* What was said while there was a screen, and what the guest printed. */
static FILE *held_talk;

static void end_screen(void)
{
    int byte;

    screen_close();
    talk_aside(NULL);
    if (held_talk == NULL)
        return;
    rewind(held_talk);
    while ((byte = getc(held_talk)) != EOF)
        putc(byte, stderr);
    fclose(held_talk);
    held_talk = NULL;
}

static bool refused(const struct watching *watching)
{
    const struct sender *sender = &watching->request.sender;

    return sender->count > 0 && sender->state == SEND_FAILED;
}

static void draw(struct watching *watching)
{
    const struct request *request = &watching->request;

    watching->ui.page = top_screen_page();
    top_model_list(&watching->top, &watching->ui);
    top_screen_draw(&watching->top, &watching->ui,
                    request->image != NULL    ? request->image
                    : request->target != NULL ? request->target
                                              : request->guest[0]);
}

static void take_keys(struct watching *watching)
{
    int key;

    while ((key = screen_key()) >= 0)
        top_key(&watching->ui, key);
    if (watching->ui.reset)
        top_model_reset(&watching->top);
    watching->ui.reset = false;
}

/* Waits for (seconds) or a key, and listens meanwhile. */
static bool wait_for(struct watching *watching, double seconds)
{
    struct pollfd keys = {.fd = watching->stdio ? -1 : STDIN_FILENO,
                          .events = POLLIN};
    double end = seconds_now() + seconds;

    while (!ending_asked() && !refused(watching) && seconds_now() < end &&
           !(watching->stdio && watching->live.ended)) {
        int wait = (int)((end - seconds_now()) * 1000) + 1;

        live_wait(&watching->live, keys.fd,
                  wait < KEYS_WAIT_MS ? wait : KEYS_WAIT_MS);
        if (poll(&keys, 1, 0) != 0)
            return true;
    }
    return false;
}

static void watch_on_screen(struct watching *watching)
{
    unsigned long looks = 0;
    double next = seconds_now();

    while (!ending_asked() && !refused(watching) && !watching->ui.quit &&
           (watching->looks == 0 || looks < watching->looks)) {
        bool keys = wait_for(watching, next - seconds_now());

        if (keys)
            take_keys(watching);
        if (seconds_now() >= next) {
            next = seconds_now() + watching->delay;
            ++looks;
            if (!watching->ui.paused)
                top_model_update(&watching->top, &watching->ui);
        }
        draw(watching);
    }
}

static void watch_in_print(struct watching *watching)
{
    bool color = talk_color(watching->color);
    unsigned long looks = 0;

    do {
        wait_for(watching, watching->delay);
        if (refused(watching))
            return;
        top_model_update(&watching->top, &watching->ui);
        watching->ui.page = watching->rows;
        top_model_list(&watching->top, &watching->ui);
        top_print(&watching->top, watching->rows, color);
        ++looks;
    } while (!ending_asked() && !watching->live.ended &&
             (watching->looks == 0 || looks < watching->looks));
}

int top_watch(struct watching *watching, struct image *image)
{
    bool came;
    int code;

    held_talk = tmpfile();
    if (held_talk == NULL)
        fail("no file for what is said meanwhile: %s", strerror(errno));
    atexit(end_screen);
    live_open(&watching->live, &watching->request, image, held_talk);
    top_model_open(&watching->top, &watching->live, &watching->request, image,
                   watching->by_time);
    ending_begin();
    if (watching->stdio) {
        watch_in_print(watching);
    } else {
        talk_aside(held_talk);
        screen_open(talk_color(watching->color));
        watch_on_screen(watching);
    }
    came = watching->live.boots > 0;
    code = live_close(&watching->live);
    top_model_close(&watching->top);
    top_ui_free(&watching->ui);
    end_screen();
    if (refused(watching))
        return STATUS_DATA;
    if (code == STATUS_FINE && !came)
        fail("no packet came; does the guest run with prof.out=, and is the "
             "profiler linked into it?");
    return code;
}
