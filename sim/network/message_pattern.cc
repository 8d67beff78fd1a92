#include "sim/network/message_pattern.h"

#include "costmodel/check.h"

namespace stagecraft {

int32_t MessagePattern::AddPair(MessagePair pair) {
  CHECK(pair.from != pair.to);
  pairs_.push_back(pair);
  return static_cast<int32_t>(pairs_.size()) - 1;
}

void MessagePattern::AddSender(MessageSender sender, std::span<const MessageNeed> needs) {
  CHECK(sender.messages > 0 && sender.bytes >= 0);
  sender.first_need = static_cast<int32_t>(needs_.size());
  sender.need_count = static_cast<int32_t>(needs.size());
  needs_.insert(needs_.end(), needs.begin(), needs.end());
  senders_.push_back(sender);
  messages_ += sender.messages;
  bytes_ += sender.messages * sender.bytes;
}

}  // namespace stagecraft
