/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WORKS_H
#define WORKS_H

/*
 * The programs that predictions are compared with, with their parameters, and
 * what becomes faster in each. Included after programs.h.
 */

#define PROGRAMS 21u

/* What becomes faster. */
enum what { PART_F, PART_G, DISKS, NETWORK };

static const struct {
    enum what what;
    const struct program *program;
    uint32_t parameter[8];
} works[PROGRAMS] = {
    {PART_F, &closed, {16, 10, 30, 5, 20}},
    {PART_F, &background, {3, 20, 10, 5, 120}},
    {PART_F, &disk, {4, 10, 30, 5, 20, 500}},
    {PART_F, &disk, {4, 10, 30, 5, 20, 100, 1}},
    {PART_F, &disk, {12, 20, 20, 5, 20, 60, 2}},
    {PART_F, &pipeline, {12, 15, 20, 8, 30, 300}},
    {PART_F, &doorbell, {24, 8, 10, 0, 20, 80}},
    {PART_F, &hedge, {8, 20, 15, 12, 20, 100}},
    {PART_F, &open_loop, {1, 10, 15, 0, 50}},
    {PART_F, &open_loop, {1, 20, 25, 0, 50}},
    {PART_F, &tick, {1, 30, 20, 0, 100}},
    {PART_F, &bucket, {1, 20, 10, 0, 60}},
    {PART_F, &hidden, {2, 40, 30, 10, 20, 150}},
    {PART_G, &hidden, {2, 40, 30, 10, 20, 150}},
    {DISKS, &disk, {4, 10, 30, 5, 20, 500}},
    {DISKS, &disk, {4, 10, 30, 5, 20, 100, 1}},
    {DISKS, &pipeline, {12, 15, 20, 8, 30, 300}},
    {NETWORK, &disk, {4, 10, 30, 5, 300, 50}},
    {PART_F, &retry, {5, 175, 0, 0, 20}},
    {PART_F, &mutex, {3, 30, 5, 5, 20, 25}},
    {PART_F, &worker, {5, 20, 0, 4, 20, 50}},
};

#endif
