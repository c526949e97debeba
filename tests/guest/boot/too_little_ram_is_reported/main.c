/* SPDX-License-Identifier: Apache-2.0 */
/* An image that does not fit into the machine: 8 MiB and more, for 4 MiB. */

#include <kernel/console.h>
#include <kernel/service.h>

static volatile unsigned char large[8 << 20];

int service_main(void)
{
    large[0] = 1;
    console_line("hello");
    return 0;
}
