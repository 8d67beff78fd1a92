#include "tools/recorded/kineto_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "tools/recorded/byte_stream.h"
#include "tools/recorded/kernel_names.h"
#include "tools/recorded/kernel_places.h"
#include "tools/recorded/kineto_collector.h"
#include "tools/recorded/kineto_event.h"

namespace stagecraft {
namespace {

// Takes the parts of a JSON text as they come, and hands on whole events.
class KinetoSax : public nlohmann::json_sax<nlohmann::json> {
 public:
  KinetoSax(const std::string& path, KinetoCollector& collector)
      : path_(path), collector_(collector) {}

  bool null() override { return true; }
  bool binary(binary_t&) override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return Integer(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return Integer(
        static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max())));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (IsTime()) return Time(text);
    if (value >= -9e18 && value <= 9e18) return Integer(static_cast<int64_t>(value));
    return true;
  }
  bool string(string_t& text) override { return Text(text); }

  bool start_object(std::size_t) override {
    if (depth_ == event_depth_ - 1 && (event_depth_ == 2 || head_ == "traceEvents")) {
      event_.Clear();
      in_event_ = true;
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (in_event_ && depth_ == event_depth_ - 1) {
      in_event_ = false;
      collector_.Take(event_);
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) event_depth_ = 2;  // events alone, without a head
    ++depth_;
    if (IsInArgument(KinetoKey::kInputDims) && depth_ == event_depth_ + 3) {
      event_.dims.emplace_back();
    }
    if (depth_ == 2 && head_ == "traceEvents") has_events_ = true;
    return true;
  }
  bool end_array() override {
    --depth_;
    if (depth_ == 1 && !in_event_ && head_ == "traceEvents") are_events_closed_ = true;
    return true;
  }
  bool key(string_t& word) override {
    if (!in_event_) {
      (depth_ == 1 ? head_ : inner_) = word;
    } else if (depth_ == event_depth_) {
      key_ = FindEventKey(word);
    } else if (depth_ == event_depth_ + 1 && key_ == KinetoKey::kArgs) {
      argument_ = FindArgumentKey(word);
    }
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    error_ = error.what();
    return false;
  }

  bool has_events() const { return has_events_ || event_depth_ == 2; }
  // Whether all events are there, though the text broke off: after their list, or between two
  // events of a list alone, which programs that write as they go never close.
  bool has_all_events() const {
    return !in_event_ && (event_depth_ == 2 ? depth_ == 1 : are_events_closed_);
  }
  const std::string& error() const { return error_; }

 private:
  bool IsAt(KinetoKey key) const { return in_event_ && depth_ == event_depth_ && key_ == key; }
  bool IsInArgument(KinetoKey key) const {
    return in_event_ && key_ == KinetoKey::kArgs && argument_ == key && depth_ > event_depth_;
  }
  bool IsTime() const { return IsAt(KinetoKey::kStart) || IsAt(KinetoKey::kDuration); }

  bool Time(const std::string& text) {
    const std::optional<int64_t> time = NanosecondsOf(text);
    if (!time) {
      throw InputError(
          fmt::format("{}: event {}: {}: got {}, want microseconds before the year 2039", path_,
                      collector_.events(), Word(key_), text));
    }
    (key_ == KinetoKey::kStart ? event_.start_ns : event_.duration_ns) = *time;
    return true;
  }

  bool Integer(int64_t value) {
    if (!in_event_) {
      collector_.TakeHead(head_, inner_, value);
      return true;
    }
    if (IsTime()) return Time(std::to_string(value));
    if (IsAt(KinetoKey::kProcess)) event_.process = value;
    if (IsAt(KinetoKey::kThread)) event_.thread = value;
    if (key_ == KinetoKey::kArgs && depth_ > event_depth_) Argument(value);
    return true;
  }

  void Argument(int64_t value) {
    if (argument_ == KinetoKey::kInputDims) {
      // The sizes of each input are a list of their own; an object in its place has no sizes.
      if (depth_ == event_depth_ + 3 && !event_.dims.empty()) event_.dims.back().push_back(value);
      return;
    }
    if (depth_ != event_depth_ + 1) return;
    static constexpr std::pair<KinetoKey, int64_t KinetoEvent::*> kNumbers[] = {
        {KinetoKey::kExternal, &KinetoEvent::external},
        {KinetoKey::kCorrelation, &KinetoEvent::correlation},
        {KinetoKey::kDevice, &KinetoEvent::device},
        {KinetoKey::kStream, &KinetoEvent::stream},
        {KinetoKey::kSequence, &KinetoEvent::sequence},
        {KinetoKey::kInElements, &KinetoEvent::in_elements},
        {KinetoKey::kOutElements, &KinetoEvent::out_elements},
        {KinetoKey::kGroupSize, &KinetoEvent::group_size},
        {KinetoKey::kGroupSequence, &KinetoEvent::group_sequence},
        {KinetoKey::kOwnTask, &KinetoEvent::own_task},
        {KinetoKey::kOwnRank, &KinetoEvent::own_rank},
        {KinetoKey::kOwnStage, &KinetoEvent::own_stage},
        {KinetoKey::kOwnChunk, &KinetoEvent::own_chunk},
        {KinetoKey::kOwnMicroBatch, &KinetoEvent::own_micro_batch},
        {KinetoKey::kOwnSegment, &KinetoEvent::own_segment},
        {KinetoKey::kOwnLayer, &KinetoEvent::own_layer},
    };
    for (const auto& [key, member] : kNumbers) {
      if (argument_ == key) event_.*member = value;
    }
  }

  bool Text(std::string& text) {
    if (!in_event_) {
      collector_.TakeHead(head_, inner_, text);
      return true;
    }
    if (depth_ == event_depth_) {
      if (key_ == KinetoKey::kPhase) event_.phase.swap(text);
      if (key_ == KinetoKey::kCategory) event_.category.swap(text);
      if (key_ == KinetoKey::kName) event_.name.swap(text);
      // Some processes and threads have words in place of numbers.
      if (key_ == KinetoKey::kProcess) event_.process = collector_.NumberOf(text);
      if (key_ == KinetoKey::kThread) event_.thread = collector_.NumberOf(text);
      if (IsTime()) return Time(text);
      return true;
    }
    if (key_ != KinetoKey::kArgs) return true;
    if (argument_ == KinetoKey::kInputTypes && depth_ == event_depth_ + 2) {
      event_.types.push_back(text);
    }
    if (argument_ == KinetoKey::kInputValues && depth_ == event_depth_ + 2) {
      event_.values.push_back(text);
    }
    if (argument_ == KinetoKey::kInputDims && depth_ == event_depth_ + 2) {
      event_.dims.emplace_back();
    }
    if (depth_ != event_depth_ + 1) return true;
    if (argument_ == KinetoKey::kCollective) event_.collective = text;
    if (argument_ == KinetoKey::kDType) event_.dtype = text;
    if (argument_ == KinetoKey::kGroup) event_.group = text;
    if (argument_ == KinetoKey::kGroupRanks) event_.ranks = text;
    if (argument_ == KinetoKey::kOwnClass) event_.own_class = text;
    if (argument_ == KinetoKey::kOwnPhase) event_.own_phase = text;
    if (argument_ == KinetoKey::kOwnLane) event_.own_lane = text;
    return true;
  }

  const std::string& path_;
  KinetoCollector& collector_;
  int depth_ = 0;
  int event_depth_ = 3;  // inside of an event: of a list in the head, or of a list alone
  bool in_event_ = false, has_events_ = false, are_events_closed_ = false;
  std::string head_, inner_;  // the last keys outside of events
  KinetoKey key_ = KinetoKey::kNone, argument_ = KinetoKey::kNone;
  KinetoEvent event_;
  std::string error_;
};

// "parse error at line 3, column 9: syntax error ..." without nlohmann's own prefix.
std::string Reason(const std::string& error) {
  const size_t at = error.find("parse error");
  return at == std::string::npos ? error : error.substr(at);
}

}  // namespace

Recording ReadKineto(const std::string& path, CutOff cut_off) {
  ByteStream bytes(path);
  std::istream in(&bytes);
  in.exceptions(std::ios::badbit);  // lets errors of the stream through
  KinetoCollector collector(path);
  KinetoSax sax(path, collector);
  const bool is_whole = nlohmann::json::sax_parse(in, &sax);
  const bool is_at_end =
      bytes.is_cut_off() || in.eof() || in.peek() == std::istream::traits_type::eof();
  if (!is_whole && !(is_at_end && sax.has_all_events())) {
    if (!is_at_end || !sax.has_events()) {
      throw InputError(fmt::format("{}: not JSON that can be read: {}", path, Reason(sax.error())));
    }
    if (cut_off == CutOff::kRefuse) {
      throw InputError(fmt::format(
          "{}: cut off after {} whole events, want the whole file, or --cut-off of import to "
          "take these events",
          path, collector.events()));
    }
    collector.Note(fmt::format("{}: cut off after {} whole events: what came later is missing",
                               path, collector.events()));
  }
  if (!sax.has_events()) {
    throw InputError(path + ": traceEvents: got none, want a trace of PyTorch's profiler");
  }
  return collector.Finish();
}

}  // namespace stagecraft
