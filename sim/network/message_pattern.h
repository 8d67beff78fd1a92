// MessagePattern: the messages of a collective, without listing them.
//
// A pattern has senders. Each of them sends its messages 0, 1, 2, ... one after another: the next
// A pattern has senders. Each of them sends its messages 0, 1, 2, ... one after another: the next
// starts at the earliest when the one before has arrived. Whatever else a message waits for is
// counted: an arrival adds one to a counter, and message k of a sender with the need {counter,
// from, slope, offset} waits, if k >= from, until
//   counter >= slope * k + offset.
// A ring of n ranks is n senders with a counter each, and sender i needs what has arrived from i -
// 1: {i - 1, from 1, slope 1, offset 0}. So a pattern takes a few words for each rank however many
// messages it has.
//
// A pattern knows participants (0, 1, ... as its builder numbers them), not devices or links:
// whoever runs it gives a route for each of its pairs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stagecraft {

struct MessageNeed {
  int32_t counter = 0;
  int32_t from = 0;
  int32_t slope = 0;
  int32_t offset = 0;
};

// The participants that send and receive a message.
struct MessagePair {
  int32_t from = 0;
  int32_t to = 0;
  friend bool operator==(const MessagePair&, const MessagePair&) = default;
};

struct MessageSender {
  int32_t messages = 0;
  double bytes = 0;  // of each message; may be fractional, as a share of a whole
  int32_t pair = 0;
  int32_t pair_step = 0;  // message k goes to pair + k * pair_step
  // The arrival of message k is counted at counter + (turn + k) mod turns.
  int32_t counter = 0;
  int32_t turn = 0;
  int32_t turns = 1;
  // Set by the pattern: where the needs of the sender are.
  int32_t first_need = 0;
  int32_t need_count = 0;
};

// Immutable once built; may be run any number of times, also several times at once.
class MessagePattern {
 public:
  int32_t AddCounters(int32_t count) {  // returns the first
    counters_ += count;
    return counters_ - count;
  }
  int32_t AddPair(MessagePair pair);  // returns its index
  void AddSender(MessageSender sender, std::span<const MessageNeed> needs);

  // The pairs, in the order in which a run expects their routes.
  std::span<const MessagePair> pairs() const { return pairs_; }
  std::span<const MessageSender> senders() const { return senders_; }
  std::span<const MessageNeed> needs(const MessageSender& sender) const {
    return {needs_.data() + sender.first_need, static_cast<size_t>(sender.need_count)};
  }
  int32_t counters() const { return counters_; }
  int64_t messages() const { return messages_; }
  double bytes() const { return bytes_; }  // of all messages

 private:
  std::vector<MessagePair> pairs_;
  std::vector<MessageSender> senders_;
  std::vector<MessageNeed> needs_;
  int32_t counters_ = 0;
  int64_t messages_ = 0;
  double bytes_ = 0;
};

}  // namespace stagecraft
