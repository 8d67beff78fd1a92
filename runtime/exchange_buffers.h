// The buffers for what the streams of a StreamProgram exchange.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "costmodel/units.h"
#include "runtime/stream_program.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// The buffer of a stream, for what it sends, receives or reduces. If one process runs all ranks, a
// message is copied into a second buffer of the sender's stream, which is in the receiver's memory.
using BufferKey = std::pair<int32_t, int32_t>;  // stream, rank in whose memory it is

// Returns the size of each buffer: that of the largest exchange that uses it, since exchanges of a
// stream follow one another. For an all-to-all it holds what is sent and, behind it, what is
// received.
std::map<BufferKey, Bytes> ExchangeBuffers(const Schedule& schedule, const StreamProgram& program);

// Returns the length of a message, or of a collective among the ops of a task; at least 4 bytes.
Bytes ExchangedBytes(const Schedule& schedule, const StreamCommand& command);

// Returns the sender and the receiver of a message, in this order.
const std::vector<int32_t>& MessageEnds(const StreamProgram& program, const StreamCommand& command);

}  // namespace stagecraft
