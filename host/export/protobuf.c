/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of protocol buffers to a file. */

#include "export/protobuf.h"

#include "base/memory.h"
#include "base/text.h"

struct file_buffer {
    ProtobufCBuffer base; /* first: the library passes a pointer to it */
    FILE *out;
};

static void append_bytes(ProtobufCBuffer *buffer, size_t bytes,
                         const uint8_t *data)
{
    fwrite(data, 1, bytes, ((struct file_buffer *)buffer)->out);
}

void protobuf_write(const ProtobufCMessage *message, FILE *out)
{
    struct file_buffer buffer = {{append_bytes}, out};

    protobuf_c_message_pack_to_buffer(message, &buffer.base);
}

char *protobuf_text(const char *text)
{
    char *mended = utf8_mended(text);

    return mended != NULL ? mended : xstrdup(text);
}
