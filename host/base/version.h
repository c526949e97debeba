/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

/* What --version prints, with the stream's version. */

#define PARASITE_VERSION "0.1-dev"

#endif
