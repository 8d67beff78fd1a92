// KinetoCollector: puts the events of a Kineto trace together into a Recording.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tools/recorded/kineto_event.h"
#include "tools/recorded/recording.h"

namespace stagecraft {

class KinetoCollector {
 public:
  explicit KinetoCollector(const std::string& path);

  // Throws InputError for a kernel without a start or a duration.
  void Take(const KinetoEvent& event);
  // Take a value of the head: `key` at the top, `inner` the last key below.
  void TakeHead(std::string_view key, std::string_view inner, int64_t value);
  void TakeHead(std::string_view key, std::string_view inner, std::string_view text);
  // Returns a number above those of real processes and threads for a name of one.
  int64_t NumberOf(std::string_view name);
  void Note(std::string sentence);

  int64_t events() const { return events_; }

  // Throws InputError if there was no kernel. The collector is empty afterwards.
  Recording Finish();

 private:
  void TakeKernel(const KinetoEvent& event, KernelClass kind);
  void TakeOwn(const KinetoEvent& event, RecordedKernel& kernel);
  void TakeSlice(const KinetoEvent& event, int64_t thread);
  int32_t AttentionOf(const KinetoEvent& event);
  int32_t GemmOf(const KinetoEvent& event);
  int32_t CollectiveOf(const KinetoEvent& event, KernelClass by_name);
  int64_t ThreadOf(const KinetoEvent& event);

  Recording recording_;
  int64_t events_ = 0;
  int64_t device_id_ = 0;  // the last of the head's deviceProperties
  std::map<std::pair<int64_t, int64_t>, int64_t> threads_;
  std::map<std::string, int64_t> numbers_;
  std::map<std::string, KernelClass> class_of_name_;
};

}  // namespace stagecraft
