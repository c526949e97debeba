/* SPDX-License-Identifier: Apache-2.0 */
/* As in xv6, as much of it as the kit needs. */

typedef unsigned int uint;
