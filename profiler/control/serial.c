/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The built-in transport "serial". Where the console's line is, only the image
 * knows; so each packet begins with the end of a line.
 */

#include "control/builtin.h"

#include <prof/port.h>

static bool open_serial(void)
{
    return true;
}

static bool send(const void *packet, size_t bytes)
{
    prof_port_write("\n", 1);
    prof_transport_text(packet, bytes, prof_port_write);
    return true;
}

const struct prof_transport prof_serial_transport = {
    .name = "serial",
    .open = open_serial,
    .send = send,
};
