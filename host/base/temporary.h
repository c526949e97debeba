/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

/* A new folder in $TMPDIR, or /tmp, whose name has (name) in it: to be freed,
 * and removed by temporary_remove(). Ends the process where none can be made.
 */
char *temporary_folder(const char *name);

/* Removes the folder and all that is in it, or logs that it is left. */
void temporary_remove(const char *path);

#endif
