/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A static picture: SVG for documents, light or dark as the reader prefers,
 * without a script. Roots are at the bottom. Boxes too narrow to be seen are
 * left out, and the picture says from which width on.
 */

#include "flame/flame.h"

#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0      /* pixels */
#define MARGIN 10.0       /* at all sides */
#define HEAD 34.0         /* above the boxes: the title */
#define FOOT 24.0         /* below them */
#define ROW 18.0          /* with the gap */
#define CHAR 6.62         /* width of a letter at 11 pixels, monospaced */
#define NARROWEST 0.6     /* boxes below this are left out */
#define STEPS_MAX 8       /* a box may not be left out above 150 pixels */
#define TITLED 2.0        /* boxes from this on have a tooltip */
#define HUES 8            /* of folders; the others share a grey */
#define LEGEND_REST 200.0 /* of its line, used by other things */
#define CHANGES 3         /* shades of red, and of blue */

struct picture {
    const struct flame *flame;
    FILE *out;
    double z;
    double height;
    uint32_t folders[HUES]; /* of flame.strings, the heaviest first */
    bool by_word;           /* no folder is known: hues go by names */
    double *x;              /* by depth, where the next box begins */
    double narrowest;       /* pixels: boxes below this are left out */
    bool has_tips;          /* boxes have tooltips */
};

static const char style[] =
    "<style>\n"
    "text{font:11px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;"
    "fill:#1b2130}\n"
    ".t{font:600 14px system-ui,sans-serif}.s{fill:#566072}\n"
    ".f{fill:#fff}rect{rx:2.5px}\n"
    ".g{fill:#d5d8de}\n"
    ".h0{fill:#f5ac8c}.h1{fill:#9dc3f5}.h2{fill:#98d8a4}.h3{fill:#e5c274}\n"
    ".h4{fill:#cfaef0}.h5{fill:#82d5d6}.h6{fill:#f4a8b6}.h7{fill:#bfd07a}\n"
    ".m1{fill:#f3c1b8}.m2{fill:#ee9485}.m3{fill:#e5604f}\n"
    ".l1{fill:#bfd3f4}.l2{fill:#8db4f0}.l3{fill:#5b91e8}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e7eaf0}.s{fill:#9aa5b6}"
    ".f{fill:#171b23}.g{fill:#3d434d}\n"
    ".h0{fill:#8a4526}.h1{fill:#2b588f}.h2{fill:#28693a}.h3{fill:#755511}\n"
    ".h4{fill:#624088}.h5{fill:#146567}.h6{fill:#87394c}.h7{fill:#56651a}\n"
    ".m1{fill:#5f3a36}.m2{fill:#8c3c33}.m3{fill:#b23527}\n"
    ".l1{fill:#344866}.l2{fill:#2f548c}.l3{fill:#2a60bb}}\n"
    "</style>\n";

static const char *name_of(const struct flame *flame, uint32_t node)
{
    uint32_t function = flame->nodes[node].function;

    if (function == FLAME_NONE)
        return "all";
    return strings_text(&flame->strings, flame->functions[function].name);
}

/* In a comparison the mean of both shares, as in the page. */
static double width_of(const struct flame *flame, uint32_t node)
{
    double now = flame_share(flame, node, FLAME_NEW);

    if (flame->is_diff)
        now = (now + flame_share(flame, node, FLAME_BASE)) / 2;
    return now * (WIDTH - 2 * MARGIN);
}

/* A hue for the first word of (name), without underscores in front of it:
 * functions of one part of a program often have it in common. It is the same in
 * every picture. What is not a function, or has no name, is grey. */
static int hue_of_word(const char *name)
{
    uint32_t hash = 0x811c9dc5u; /* FNV-1a */

    if (*name == '[' || strncmp(name, "0x", 2) == 0)
        return -1;
    name += strspn(name, "_");
    do
        hash = (hash ^ (uint8_t)*name) * 0x01000193u;
    while (*name != '\0' && isalnum((unsigned char)*++name));
    return (int)((hash >> 16) % HUES);
}

/* The style of a box. */
static void class_of(const struct picture *picture, uint32_t node, char *text)
{
    const struct flame *flame = picture->flame;
    uint32_t function = flame->nodes[node].function;
    int hue;

    strcpy(text, "g");
    if (flame->is_diff) {
        double change = flame_change(flame, node, picture->z);

        if (change != 0)
            sprintf(text, "%c%d", change > 0 ? 'm' : 'l',
                    (int)ceil(fabs(change) * CHANGES));
        return;
    }
    if (function == FLAME_NONE)
        return;
    hue = picture->by_word ? hue_of_word(name_of(flame, node)) : -1;
    if (hue >= 0)
        sprintf(text, "h%d", hue);
    if (flame->functions[function].folder == 0)
        return;
    for (int i = 0; i < HUES; ++i)
        if (flame->functions[function].folder == picture->folders[i])
            sprintf(text, "h%d", i);
}

static const char *counted(const struct flame *flame)
{
    return flame->is_waits ? "waits" : "samples";
}

static void put_tooltip(const struct picture *picture, uint32_t node)
{
    const struct flame *flame = picture->flame;
    const struct model_count *total = &flame->nodes[node].total[FLAME_NEW];
    char number[NUMBER_TEXT_MAX];

    fputs("<title>", picture->out);
    xml_put(picture->out, name_of(flame, node), 300);
    fprintf(picture->out, ": %.2f %%, %s %s",
            100 * flame_share(flame, node, FLAME_NEW),
            number_count(total->samples, number), counted(flame));
    if (flame->is_diff)
        fprintf(picture->out, ", before %.2f %%",
                100 * flame_share(flame, node, FLAME_BASE));
    fputs("</title>", picture->out);
}

static void put_box(struct picture *picture, uint32_t node, double x,
                    double width)
{
    double y =
        picture->height - FOOT - (picture->flame->nodes[node].depth + 1) * ROW;
    double wide = width > 3 ? width - 1 : width;
    char class[8];

    class_of(picture, node, class);
    fprintf(picture->out,
            "<g><rect class=\"%s\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" "
            "height=\"%.0f\"/>",
            class, x, y, wide, ROW - 1);
    if (picture->has_tips && width >= TITLED)
        put_tooltip(picture, node);
    if (width > 4 * CHAR) {
        fprintf(picture->out, "<text x=\"%.1f\" y=\"%.0f\">", x + 4, y + 12.5);
        xml_put(picture->out, name_of(picture->flame, node),
                (size_t)((width - 8) / CHAR));
        fputs("</text>", picture->out);
    }
    fputs("</g>\n", picture->out);
}

/* Whether a box is visible; if not, its descendants are not either. */
static bool is_seen(const struct picture *picture, uint32_t node)
{
    return width_of(picture->flame, node) >= picture->narrowest;
}

static void put_boxes(struct picture *picture)
{
    const struct flame *flame = picture->flame;

    picture->x[0] = MARGIN;
    for (uint32_t i = 0; i < flame_nodes(flame); ++i) {
        uint32_t depth = flame->nodes[i].depth;
        double x = picture->x[depth], width = width_of(flame, i);

        picture->x[depth] = x + width;
        picture->x[depth + 1] = x;
        if (width >= picture->narrowest)
            put_box(picture, i, x, width);
    }
}

static uint32_t levels_of(const struct picture *picture)
{
    const struct flame *flame = picture->flame;
    uint32_t levels = 0;

    for (uint32_t i = 0; i < flame_nodes(flame); ++i)
        if (flame->nodes[i].depth >= levels && is_seen(picture, i))
            levels = flame->nodes[i].depth + 1;
    return levels;
}

static const uint64_t *sorted_weights;

static int by_weight(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (sorted_weights[a] != sorted_weights[b])
        return sorted_weights[a] > sorted_weights[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* The total of each folder's functions; a folder inside itself counts once. */
static void weigh_folders(const struct flame *flame, uint64_t *weights)
{
    for (uint32_t i = 1; i < flame_nodes(flame); ++i) {
        const struct flame_node *node = &flame->nodes[i];
        uint32_t folder = flame->functions[node->function].folder;
        uint32_t above = flame->nodes[node->parent].function;

        if (above == FLAME_NONE || flame->functions[above].folder != folder)
            weights[folder] += node->total[FLAME_NEW].samples;
    }
    weights[0] = 0; /* unknown: grey */
}

static double legend_width(const char *text)
{
    return 15 + (double)strlen(text) * CHAR + 16;
}

/* The heaviest folders get a hue each, as many as fit into the legend. */
static void choose_folders(struct picture *picture)
{
    const struct flame *flame = picture->flame;
    uint32_t count = strings_count(&flame->strings);
    uint64_t *weights = xreallocarray(NULL, count, sizeof *weights);
    uint32_t *order = xreallocarray(NULL, count, sizeof *order);
    double room = WIDTH - LEGEND_REST;

    memset(weights, 0, count * sizeof *weights);
    weigh_folders(flame, weights);
    for (uint32_t i = 0; i < count; ++i)
        order[i] = i;
    sorted_weights = weights;
    qsort(order, count, sizeof *order, by_weight);
    picture->by_word = count == 0 || weights[order[0]] == 0;
    for (uint32_t i = 0; i < HUES; ++i) {
        picture->folders[i] = FLAME_NONE;
        if (i >= count || weights[order[i]] == 0)
            continue;
        room -= legend_width(strings_text(&flame->strings, order[i]));
        if (room >= 0)
            picture->folders[i] = order[i];
    }
    free(weights);
    free(order);
}

/* Returns where the next item begins. */
static double put_item(const struct picture *picture, double x,
                       const char *class, const char *text)
{
    double y = picture->height - 7;

    fprintf(picture->out,
            "<rect class=\"%s\" x=\"%.1f\" y=\"%.0f\" width=\"11\" "
            "height=\"11\"/><text class=\"s\" x=\"%.1f\" y=\"%.0f\">",
            class, x, y - 9, x + 15, y);
    xml_put(picture->out, text, SIZE_MAX);
    fputs("</text>\n", picture->out);
    return x + legend_width(text);
}

static void put_legend(const struct picture *picture)
{
    double x = MARGIN;

    if (picture->flame->is_diff) {
        x = put_item(picture, x, "l3", "less");
        x = put_item(picture, x, "g", "not significant");
        put_item(picture, x, "m3", "more");
    }
    if (!picture->flame->is_diff && picture->by_word)
        fprintf(picture->out,
                "<text class=\"s\" x=\"%.0f\" y=\"%.0f\">no folders are known: "
                "colours by the first word of each name</text>\n",
                MARGIN, picture->height - 7);
    for (int i = 0; !picture->flame->is_diff && i < HUES; ++i) {
        const struct strings *strings = &picture->flame->strings;
        char class[8];

        sprintf(class, "h%d", i);
        if (picture->folders[i] != FLAME_NONE)
            x = put_item(picture, x, class,
                         strings_text(strings, picture->folders[i]));
    }
    fprintf(picture->out,
            "<text class=\"s\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">"
            "boxes below %.2f %% are omitted</text>\n",
            WIDTH - MARGIN, picture->height - 7,
            100 * picture->narrowest / (WIDTH - 2 * MARGIN));
}

static void put_head(struct picture *picture)
{
    const struct flame *flame = picture->flame;
    char samples[NUMBER_TEXT_MAX], lost[NUMBER_TEXT_MAX];
    uint64_t losses = 0;

    for (size_t i = 0; i < flame->loss_count; ++i)
        if (flame->losses[i].kind == FLAME_DROPPED ||
            flame->losses[i].kind == FLAME_DISCARDED)
            losses += flame->losses[i].count;
    fprintf(picture->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
            "%.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\">\n%s"
            "<rect class=\"f\" width=\"100%%\" height=\"100%%\"/>\n"
            "<text class=\"t\" x=\"%.0f\" y=\"22\">",
            WIDTH, picture->height, WIDTH, picture->height, style, MARGIN);
    xml_put(picture->out, strings_text(&flame->strings, flame->title), 80);
    fprintf(picture->out,
            "</text>\n<text class=\"s\" x=\"%.0f\" y=\"22\" "
            "text-anchor=\"end\">shares of %s; %s %s, %.2f s, %s lost"
            "</text>\n",
            WIDTH - MARGIN, flame->by_time ? "time" : counted(flame),
            number_count(flame->nodes[0].total[FLAME_NEW].samples, samples),
            counted(flame), (double)(flame->end - flame->begin) / PROF_CLOCK_HZ,
            number_count(losses, lost));
}

static void draw(const struct flame *flame, double narrowest, bool has_tips,
                 FILE *out)
{
    struct picture picture = {.flame = flame,
                              .out = out,
                              .narrowest = narrowest,
                              .has_tips = has_tips};
    uint32_t deepest = 0;

    for (uint32_t i = 0; i < flame_nodes(flame); ++i)
        if (flame->nodes[i].depth > deepest)
            deepest = flame->nodes[i].depth;
    picture.x = xreallocarray(NULL, deepest + 2, sizeof *picture.x);
    picture.z = flame->is_diff ? flame_z(flame) : 0;
    picture.height = HEAD + levels_of(&picture) * ROW + FOOT;
    choose_folders(&picture);
    put_head(&picture);
    put_boxes(&picture);
    put_legend(&picture);
    fputs("</svg>\n", out);
    free(picture.x);
}

bool flame_write_svg(const struct flame *flame, FILE *out)
{
    draw(flame, NARROWEST, true, out);
    return ferror(out) == 0;
}

bool flame_draw_less(void *owner, unsigned step, FILE *out, char *about,
                     size_t room)
{
    const struct flame *flame = owner;
    double narrowest = NARROWEST;

    snprintf(about, room,
             "A static picture would be too large for this page; parasite "
             "flame --svg makes one.");
    if (flame->sides != NULL || step > STEPS_MAX)
        return false;
    while (step-- > 0)
        narrowest *= 2;
    snprintf(about, room,
             "This is a static picture of it, as by parasite flame --svg.");
    draw(flame, narrowest, false, out);
    return true;
}
