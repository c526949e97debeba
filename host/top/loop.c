/* SPDX-License-Identifier: Apache-2.0 */
/* The two loops of top: a screen with keys, and one table after another. */

#include "top/loop.h"

#include "base/log.h"
#include "base/output.h"
#include "base/wait.h"
#include "top/show.h"
#include "top/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEYS_WAIT_MS 100
#define WARM_MAX 5u /* updates without a table */

/* Messages during the screen, and the guest's output. */
static FILE *held_talk;

static void end_screen(void)
{
    int byte;

    screen_close();
    log_redirect(NULL);
    if (held_talk == NULL)
        return;
    rewind(held_talk);
    while ((byte = getc(held_talk)) != EOF)
        putc(byte, stderr);
    fclose(held_talk);
    held_talk = NULL;
}

static bool is_refused(const struct top_run *run)
{
    const struct sender *sender = &run->request.sender;

    return sender->count > 0 && sender->state == SEND_FAILED;
}

/* Whether the guest has ended before it sent anything: there is nothing to
 * show, and what it printed says why. */
static bool came_to_nothing(const struct top_run *run)
{
    return run->live.ended && run->live.boots == 0;
}

/* ---- what is shown: functions, or sites */

static void open_data(struct top_run *run, struct image *image)
{
    top_model_open(&run->top, &run->live, &run->request, image, run->weight);
    run->ui.sites = run->sites;
    if (run->sites)
        top_sites_open(&run->top_sites, &run->live);
}

static void update_list(struct top_run *run)
{
    if (run->sites)
        top_sites_update(&run->top_sites, &run->ui);
    else
        top_model_update(&run->top, &run->ui);
}

static void make_list(struct top_run *run)
{
    if (run->sites)
        top_sites_list(&run->top_sites, &run->ui);
    else
        top_model_list(&run->top, &run->ui);
}

static bool print_list(struct top_run *run, bool color)
{
    return run->sites ? top_print_sites(&run->top_sites, run->rows, color)
                      : top_print(&run->top, run->rows, color);
}

static void reset_list(struct top_run *run)
{
    if (run->sites)
        top_sites_reset(&run->top_sites);
    else
        top_model_reset(&run->top);
}

static void close_data(struct top_run *run)
{
    if (run->sites)
        top_sites_close(&run->top_sites);
    top_model_close(&run->top);
    top_ui_free(&run->ui);
}

static void draw_list(struct top_run *run)
{
    const struct request *request = &run->request;
    const char *title = request->image != NULL    ? request->image
                        : request->target != NULL ? request->target
                                                  : request->guest[0];

    run->ui.page = top_page();
    make_list(run);
    if (run->sites)
        top_draw_sites(&run->top_sites, &run->ui, title);
    else
        top_draw(&run->top, &run->ui, title);
}

/* ---- the loops */

static void take_keys(struct top_run *run)
{
    int key;

    while ((key = screen_key()) >= 0)
        top_key(&run->ui, key);
    if (run->ui.reset)
        reset_list(run);
    run->ui.reset = false;
}

/* Waits for (seconds) or a key, and receives meanwhile. */
static bool take_until(struct top_run *run, double seconds)
{
    struct pollfd keys = {.fd = run->stdio ? -1 : STDIN_FILENO,
                          .events = POLLIN};
    double end = seconds_now() + seconds;

    while (!signals_caught() && !is_refused(run) && seconds_now() < end &&
           !(run->stdio && run->live.ended)) {
        int wait = (int)((end - seconds_now()) * 1000) + 1;

        live_wait(&run->live, keys.fd,
                  wait < KEYS_WAIT_MS ? wait : KEYS_WAIT_MS);
        if (poll(&keys, 1, 0) != 0)
            return true;
    }
    return false;
}

static void loop_on_screen(struct top_run *run)
{
    unsigned long done = 0;
    double next = seconds_now();

    while (!signals_caught() && !is_refused(run) && !run->ui.quit &&
           !came_to_nothing(run) &&
           (run->updates == 0 || done < run->updates)) {
        bool keys = take_until(run, next - seconds_now());

        if (keys)
            take_keys(run);
        if (seconds_now() >= next) {
            next = seconds_now() + run->delay;
            ++done;
            if (!run->ui.paused)
                update_list(run);
        }
        draw_list(run);
    }
}

/* Whether packets come that do not suffice for a table yet. */
static bool warms_up(const struct top_run *run)
{
    return run->sites ? run->live.boots > 0 && !run->live.ended &&
                            top_sites_warm_up(&run->top_sites)
                      : run->top.warms_up;
}

/* While it warms up there is no table that could count; but not for ever. */
static bool counts_update(const struct top_run *run, unsigned *warm)
{
    return !warms_up(run) || ++*warm > WARM_MAX;
}

static void loop_printing(struct top_run *run)
{
    bool color = use_color(run->color);
    unsigned long done = 0;
    unsigned warm = 0;

    do {
        take_until(run, run->delay);
        if (is_refused(run) || came_to_nothing(run))
            return;
        update_list(run);
        if (counts_update(run, &warm)) {
            run->top.warms_up = false;
            ++done;
        }
        run->ui.page = run->rows;
        make_list(run);
        if (!print_list(run, color))
            return;
    } while (!signals_caught() && !run->live.ended &&
             (run->updates == 0 || done < run->updates));
}

int top_loop(struct top_run *run, struct image *image)
{
    char why[TARGET_WHY_MAX];
    bool came, ended, failed;
    int code;

    held_talk = tmpfile();
    if (held_talk == NULL)
        die("no temporary file: %s", strerror(errno));
    atexit(end_screen);
    signals_catch();
    live_open(&run->live, &run->request, image, held_talk);
    open_data(run, image);
    if (run->stdio) {
        loop_printing(run);
    } else {
        log_redirect(held_talk);
        screen_open(use_color(run->color));
        loop_on_screen(run);
    }
    came = run->live.boots > 0;
    ended = run->live.ended && came;
    snprintf(why, sizeof why, "%s", run->live.why);
    code = live_close(&run->live);
    failed = !came && run->live.ended && run->live.guest.complained;
    close_data(run);
    end_screen();
    if (ended)
        log_info("%s", why);
    if (is_refused(run))
        return STATUS_DATA;
    if (code == STATUS_OK && failed)
        return STATUS_DATA; /* QEMU's own error has been printed */
    if (code == STATUS_OK && !came)
        die("no packets received; does the guest run with prof.out=, and is "
            "the profiler linked into it?");
    return code;
}
