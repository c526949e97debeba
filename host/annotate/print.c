/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotated functions as text, like perf annotate --stdio.
 *
 * Text from files and symbols is printed without control characters, so that it
 * cannot control the terminal.
 */

#include "annotate/annotate.h"
#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "trace/metadata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RED_PERCENT 5.0
#define GREEN_PERCENT 0.5
#define NEAR 3u /* instructions or lines shown around a sampled one */
#define TAB 8u
#define GREY "\033[90m"
#define CYAN "\033[36m"
#define BOLD "\033[1m"

struct printer {
    struct annotate *annotate;
    const struct annotate_function *function;
    bool colored;
};

static const char *colored(const struct printer *printer, const char *code)
{
    return printer->colored ? code : "";
}

static void print_clean(const char *text)
{
    size_t column = 0;

    while (*text != '\0') {
        int bytes = printable_bytes(text);
        char escaped[PRINTABLE_ESCAPE + 1];

        if (*text == '\t') {
            do
                putchar(' ');
            while (++column % TAB != 0);
            ++text;
            continue;
        }
        if (bytes > 0) {
            fwrite(text, 1, (size_t)bytes, stdout);
        } else {
            const char one[] = {*text, '\0'};

            column += PRINTABLE_ESCAPE - 1;
            fputs(printable(one, escaped, sizeof escaped), stdout);
        }
        ++column;
        text += bytes > 0 ? bytes : 1;
    }
}

static void print_percent(const struct printer *printer,
                          const struct model_count *count)
{
    double percent =
        annotate_percent(printer->annotate, count, &printer->function->self);
    const char *color = percent >= RED_PERCENT     ? "\033[31m"
                        : percent >= GREEN_PERCENT ? "\033[32m"
                                                   : "";

    if (count->samples == 0)
        printf("%9s", "");
    else if (*color != '\0' && printer->colored)
        printf("%s%8.2f%%\033[m", color, percent);
    else
        printf("%8.2f%%", percent);
}

/* Whether one of the (count) elements near (at), each of (size) bytes with its
 * count at (offset), was sampled. */
static bool is_near(const void *elements, size_t count, size_t size,
                    size_t offset, size_t at)
{
    size_t from = at > NEAR ? at - NEAR : 0;
    size_t to = at + NEAR < count ? at + NEAR + 1 : count;

    for (size_t i = from; i < to; ++i) {
        struct model_count self;

        memcpy(&self, (const char *)elements + i * size + offset, sizeof self);
        if (self.samples > 0)
            return true;
    }
    return false;
}

/* Ends a stretch of (count) hidden items. */
static void print_left_out(const struct printer *printer, size_t *count,
                           const char *what)
{
    if (*count > 0)
        printf("%9s  %s... %zu %s%s without samples%s\n", "",
               colored(printer, GREY), *count, what, *count == 1 ? "" : "s",
               colored(printer, "\033[m"));
    *count = 0;
}

static void print_inlined(const struct printer *printer, uint32_t inlined)
{
    const char *names = annotate_name(printer->annotate, inlined);

    printf("%9s  %s", "", colored(printer, GREY));
    fputs(inlined != 0 ? "inlined " : "back in ", stdout);
    if (inlined == 0)
        print_clean(annotate_name(printer->annotate, printer->function->name));
    while (*names != '\0') {
        size_t bytes = strcspn(names, "\n");
        char *name = strndup(names, bytes);

        print_clean(name != NULL ? name : "");
        free(name);
        names += bytes;
        if (*names == '\n')
            printf(" in ");
        names += *names == '\n';
    }
    puts(colored(printer, "\033[m"));
}

/* What differs from the instruction before: inlined function, source line. */
static void print_position(const struct printer *printer,
                           const struct annotate_code *code,
                           const struct annotate_code *before)
{
    const char *path = annotate_name(printer->annotate, code->file), *line;

    if (code->inlined != (before != NULL ? before->inlined : 0))
        print_inlined(printer, code->inlined);
    if (code->file == 0 || (before != NULL && before->file == code->file &&
                            before->line == code->line))
        return;
    line = listing_line(&printer->annotate->listing, path, code->line);
    printf("%9s  %s", "", colored(printer, CYAN));
    print_clean(path_name(path));
    printf(":%" PRIu32 "%s  ", code->line, colored(printer, "\033[m"));
    print_clean(line != NULL ? line : "");
    putchar('\n');
}

static void print_code(const struct printer *printer)
{
    const struct annotate_function *function = printer->function;
    const struct annotate_code *before = NULL;
    size_t left_out = 0;

    for (size_t i = 0; i < function->code_count; ++i) {
        const struct annotate_code *code = &function->code[i];

        if (!printer->annotate->all &&
            !is_near(function->code, function->code_count, sizeof *code,
                     offsetof(struct annotate_code, self), i)) {
            ++left_out;
            continue;
        }
        print_left_out(printer, &left_out, "instruction");
        print_position(printer, code, before);
        print_percent(printer, &code->self);
        printf("  %s%8" PRIx64 "%s    ", colored(printer, GREY), code->address,
               colored(printer, "\033[m"));
        print_clean(code->text);
        putchar('\n');
        before = code;
    }
    print_left_out(printer, &left_out, "instruction");
}

static void print_path(const struct printer *printer, uint32_t file)
{
    printf("%9s  %s", "", colored(printer, CYAN));
    print_clean(file != 0 ? annotate_name(printer->annotate, file)
                          : "no line is known");
    puts(colored(printer, "\033[m"));
}

static void print_line(const struct printer *printer,
                       const struct annotate_line *line)
{
    const char *path = annotate_name(printer->annotate, line->file);
    const char *text =
        listing_line(&printer->annotate->listing, path, line->line);

    print_percent(printer, &line->self);
    if (line->file != 0)
        printf("  %s%6" PRIu32 "%s  ", colored(printer, GREY), line->line,
               colored(printer, "\033[m"));
    print_clean(text != NULL ? text : "");
    putchar('\n');
}

static void print_lines(const struct printer *printer)
{
    const struct annotate_function *function = printer->function;
    uint32_t file = UINT32_MAX;
    size_t left_out = 0;

    for (size_t i = 0; i < function->line_count; ++i) {
        const struct annotate_line *line = &function->lines[i];

        if (line->file != file) {
            print_left_out(printer, &left_out, "line");
            print_path(printer, line->file);
            file = line->file;
        }
        if (!printer->annotate->all &&
            !is_near(function->lines, function->line_count, sizeof *line,
                     offsetof(struct annotate_line, self), i)) {
            ++left_out;
            continue;
        }
        print_left_out(printer, &left_out, "line");
        print_line(printer, line);
    }
    print_left_out(printer, &left_out, "line");
}

static void print_function(const struct printer *printer)
{
    const struct annotate_function *function = printer->function;
    char samples[NUMBER_TEXT_MAX];

    printf("\n%s", colored(printer, BOLD));
    print_clean(annotate_name(printer->annotate, function->name));
    printf("%s: %.2f%% of all, %s samples\n", colored(printer, "\033[m"),
           annotate_percent(printer->annotate, &function->self,
                            &printer->annotate->sum),
           number_count(function->self.samples, samples));
    if (printer->annotate->by_line)
        print_lines(printer);
    else
        print_code(printer);
}

static void print_head(const struct annotate *annotate)
{
    const struct model *model = &annotate->view->model;
    char samples[NUMBER_TEXT_MAX], lost[NUMBER_TEXT_MAX];

    if (log_quiet)
        return;
    fputs("# ", stdout);
    print_clean(annotate->view->trace.path);
    printf(": %s, %g Hz\n# %s samples, %s lost; percentages are of each "
           "function's own %s\n",
           metadata_arch(&model->hello), model->rate_mhz / 1000.0,
           number_count(annotate->sum.samples, samples),
           number_count(model_lost(model), lost),
           view_weight_name(annotate->view));
}

static void print_rest(const struct annotate *annotate)
{
    struct model_count rest = {0};
    size_t count = annotate->function_keys.count - annotate->shown;

    for (size_t i = annotate->shown; i < annotate->function_keys.count; ++i)
        annotate_add(&rest, &annotate->functions[i].self);
    if (count > 0 && !log_quiet)
        printf(
            "\n# %.2f%% in %zu more function%s; name one to see it, or give a "
            "lower --percent-limit\n",
            annotate_percent(annotate, &rest, &annotate->sum), count,
            count == 1 ? "" : "s");
}

void annotate_print(struct annotate *annotate)
{
    struct printer printer = {annotate, NULL, use_color(annotate->color)};

    print_head(annotate);
    for (size_t i = 0; i < annotate->shown; ++i) {
        printer.function = &annotate->functions[i];
        print_function(&printer);
    }
    print_rest(annotate);
}
