// The buffers for what a StreamProgram exchanges.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "costmodel/units.h"
#include "runtime/stream_program.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// A stream's own buffer: what it sends, receives or reduces. In one process the receiver of what a
// stream copies has another buffer for that stream.
using BufferKey = std::pair<int32_t, int32_t>;  // stream, rank in whose memory it is

// Their sizes: each is as large as the largest exchange that uses it, one after another. For an
// all-to-all what is received lies behind what is sent.
std::map<BufferKey, Bytes> ExchangeBuffers(const Schedule& schedule, const StreamProgram& program);

// The length of a message, or of a collective among the ops of a task.
Bytes ExchangedBytes(const Schedule& schedule, const Command& command);

// The sender and the receiver of a message.
const std::vector<int32_t>& MessageEnds(const StreamProgram& program, const Command& command);

}  // namespace stagecraft
