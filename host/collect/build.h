/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_BUILD_H
#define COLLECT_BUILD_H

/* The images that guests run, by their build-ids: names of functions, and which
 * stacks have been described to the store. */

#include "image/names.h"
#include "store/rows.h"

#define BUILD_STACKS_MAX (1u << 18) /* that are described, of one build */
#define BUILDS_MAX 4096u

struct build {
    uint8_t id[STORE_BUILD_BYTES];
    struct event_hello hello; /* of the first guest with it */
    struct image image;
    struct names names;
    bool has_names;
    bool is_given;     /* the image is one of -k */
    int64_t looked;    /* when its image was looked for, in seconds */
    struct index sent; /* stacks that the store knows, */
    uint8_t *sent_with_names;
    uint64_t unsent; /* beyond the limit */
    uint32_t guests; /* that run it */
    uint64_t used;   /* its place in the order in which they came and went */
};

/* Starts as zeros. */
struct builds {
    struct image *given; /* images of -k, (given_count) of them */
    size_t given_count;
    struct build **all;
    size_t count;
    uint64_t uses;   /* guests that came and went */
    uint64_t unsent; /* of builds that are forgotten */
    bool is_full;    /* that was said */
};

/* Reads the images at (paths), those of -k. Ends the process if one of them
 * cannot be read. */
void builds_give(struct builds *builds, const char *paths);

/* The build of (hello), for a guest more, until builds_leave(). Beyond
 * BUILDS_MAX the one that guests left longest ago is forgotten, to be looked
 * for and described anew; NULL = guests run all of them. */
struct build *builds_find(struct builds *builds,
                          const struct event_hello *hello);

/* A guest of (build), if that is not NULL, is gone. */
void builds_leave(struct builds *builds, struct build *build);

/* The name that its image suggests for a service, "lua" of lua.elf, to (name);
 * false: it is none of those of -k. */
bool build_service(const struct build *build, char *name, size_t room);

/* Looks for the image again, at most once a minute. */
void build_look(struct build *build, const struct builds *builds, int64_t now);

/* Whether (stack) must be described to the store, as it does not know it, or
 * not with names, which are known by now. */
bool build_must_send(struct build *build, uint64_t stack);

/* The store may have lost stacks: all of them are described again when they are
 * next sampled. */
void builds_send_again(struct builds *builds);

/* Stacks that were not described, as there are too many of their build. */
uint64_t builds_unsent(const struct builds *builds);

/* The name of the function at (address), a return address if (returned); lives
 * as long as the build. */
const char *build_name(struct build *build, uint64_t address, bool returned);

void builds_free(struct builds *builds);

#endif
