/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PERFETTO_H
#define EXPORT_PERFETTO_H

/* The numbers of Perfetto's protocol that we use, by message: those of its
 * files below protos/perfetto/trace. */

enum { TRACE_PACKET = 1 };

/* TracePacket */
enum {
    PACKET_TIME = 8, /* ns */
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_SAMPLE = 66
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

/* TracePacketDefaults, PerfSampleDefaults, PerfEvents.Timebase */
enum { DEFAULTS_SAMPLE = 12, DEFAULTS_CLOCK = 58 };
enum { CLOCK_IS_BOOTTIME = 6 };
enum { SAMPLE_DEFAULTS_TIMEBASE = 1 };
enum { TIMEBASE_FREQUENCY = 2, TIMEBASE_COUNTER = 4, TIMEBASE_NAME = 10 };
enum { COUNTER_CPU_CLOCK = 1 };

/* TrackDescriptor, ProcessDescriptor, ThreadDescriptor */
enum {
    TRACK_UUID = 1,
    TRACK_NAME,
    TRACK_PROCESS,
    TRACK_THREAD,
    TRACK_PARENT,
    TRACK_COUNTER = 8
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

/* InternedData, InternedString, Mapping, Frame, Callstack */
enum {
    INTERNED_FUNCTION = 5,
    INTERNED_FRAME = 6,
    INTERNED_STACK = 7,
    INTERNED_BUILD_ID = 16,
    INTERNED_PATH = 17,
    INTERNED_FILE = 18,
    INTERNED_MAPPING = 19
};
enum { STRING_ID = 1, STRING_TEXT = 2 };
enum { MAPPING_ID = 1, MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum {
    FRAME_ID = 1,
    FRAME_FUNCTION,
    FRAME_MAPPING,
    FRAME_ADDRESS,
    FRAME_FILE,
    FRAME_LINE
};
enum { STACK_ID = 1, STACK_FRAME };

/* PerfSample */
enum {
    SAMPLE_CPU = 1,
    SAMPLE_PID,
    SAMPLE_TID,
    SAMPLE_STACK,
    SAMPLE_MODE,
    SAMPLE_COUNTER
};
enum { MODE_GUEST_KERNEL = 4 };

/* TrackEvent */
enum {
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END, TYPE_INSTANT, TYPE_COUNTER };

#endif
