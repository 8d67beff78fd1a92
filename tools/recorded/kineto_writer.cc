#include "tools/recorded/kineto_writer.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "sim/analysis/class_comparison.h"
#include "sim/schedule/task_devices.h"
#include "tools/recorded/kineto_event.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// The text as a JSON string; bytes that are not UTF-8 are replaced.
std::string Quote(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Microseconds(Duration time) {
  return fmt::format("{}.{:03}", time.ns() / 1000, time.ns() % 1000);
}

class Writer {
 public:
  Writer(const TimelineRecord& record, const std::string& name, std::ostream& out)
      : record_(record), schedule_(record.schedule), out_(out) {
    // Ranks keep the numbers of their devices if these are in order.
    int last = -1;
    bool in_order = true;
    for (const RankInfo& rank : schedule_.ranks()) {
      if (rank.multiplicity > 1) {
        throw InputError(
            fmt::format("{}: got ranks that stand for several devices, want one rank "
                        "for each: simulate --unfold",
                        name));
      }
      in_order = in_order && rank.device > last;
      last = rank.device;
    }
    for (int i = 0; i < std::ssize(schedule_.ranks()); ++i) {
      processes_.push_back(in_order ? schedule_.ranks()[i].device : i);
    }
  }

  void Write() {
    WriteHead();
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const auto lanes = schedule_.lanes(task);
      if (lanes.empty()) WriteEvent(task, schedule_.tag(task).rank, -1);
      for (const Lane lane : lanes) WriteEvent(task, RankOf(schedule_, lane), Index(lane));
    }
    out_ << "\n]}\n";
  }

 private:
  void WriteHead() {
    out_ << "{\"schemaVersion\":1,\n\"deviceProperties\":[";
    if (record_.measurement) {
      const auto& devices = record_.measurement->devices;
      for (size_t i = 0; i < devices.size(); ++i) {
        out_ << (i > 0 ? "," : "")
             << fmt::format("{{\"id\":{},\"name\":{}}}", processes_[i], Quote(devices[i]));
      }
    }
    out_ << fmt::format("],\n\"distributedInfo\":{{\"world_size\":{}}},\n", WorldSize());
    out_ << "\"stagecraft\":{\"executor\":"
         << Quote(record_.measurement ? record_.measurement->executor : "simulated")
         << ",\"software\":" << Quote(record_.measurement ? record_.measurement->software : "")
         << ",\"step_ns\":[";
    if (record_.measurement) {
      for (size_t i = 0; i < record_.measurement->steps.size(); ++i) {
        out_ << (i > 0 ? "," : "") << record_.measurement->steps[i].ns();
      }
    }
    out_ << "]},\n\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[";
  }

  size_t WorldSize() const {
    return record_.kernels ? record_.kernels->world_size : schedule_.ranks().size();
  }

  KernelClass ClassOf(TaskId task) const {
    return record_.kernels ? record_.kernels->kernels[task].kind : WholeClassOf(schedule_, task);
  }

  std::string NameOf(TaskId task) const {
    if (record_.kernels) return record_.kernels->names[record_.kernels->kernels[task].name];
    const Tag& tag = schedule_.tag(task);
    std::string name = Name(tag.phase);
    if (tag.chunk > 0) name += fmt::format(" chunk {}", tag.chunk);
    if (tag.micro_batch >= 0) name += fmt::format(" micro-batch {}", tag.micro_batch);
    return name;
  }

  // `lane` -1: the task holds none.
  void WriteEvent(TaskId task, int32_t rank, int32_t lane) {
    const Tag& tag = schedule_.tag(task);
    const Duration start = record_.timeline.start(task), end = record_.timeline.end(task);
    const int process = rank >= 0 ? processes_[rank] : -1;
    fmt::memory_buffer line;
    const auto to = std::back_inserter(line);
    fmt::format_to(
        to,
        "{}\n{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},"
        "\"dur\":{},\"args\":{{\"device\":{},\"stream\":{}",
        is_first_ ? "" : ",", Quote(NameOf(task)), process, lane, Microseconds(start),
        Microseconds(end - start), process, lane);
    is_first_ = false;
    const auto add = [&](KinetoKey key, int64_t value) {
      if (value >= 0) fmt::format_to(to, ",\"{}\":{}", Word(key), value);
    };
    const auto add_word = [&](KinetoKey key, const char* word) {
      fmt::format_to(to, ",\"{}\":\"{}\"", Word(key), word);
    };
    add(KinetoKey::kOwnTask, task);
    add_word(KinetoKey::kOwnClass, Name(ClassOf(task)));
    if (!record_.kernels || record_.kernels->kernels[task].has_phase) {
      add_word(KinetoKey::kOwnPhase, Name(tag.phase));
    }
    if (lane >= 0 && lane < std::ssize(schedule_.lane_infos())) {
      add_word(KinetoKey::kOwnLane, Name(schedule_.lane_infos()[lane].kind));
    }
    add(KinetoKey::kOwnRank, tag.rank);
    add(KinetoKey::kOwnStage, tag.stage);
    add(KinetoKey::kOwnChunk, tag.chunk);
    add(KinetoKey::kOwnMicroBatch, tag.micro_batch);
    if (tag.segment > 0) add(KinetoKey::kOwnSegment, tag.segment);
    if (record_.kernels) add(KinetoKey::kOwnLayer, record_.kernels->kernels[task].layer);
    fmt::format_to(to, "}}}}");
    out_.write(line.data(), static_cast<std::streamsize>(line.size()));
  }

  const TimelineRecord& record_;
  const Schedule& schedule_;
  std::ostream& out_;
  std::vector<int> processes_;  // by rank
  bool is_first_ = true;
};

}  // namespace

void WriteKineto(const TimelineRecord& record, const std::string& name, std::ostream& out) {
  Writer(record, name, out).Write();
}

}  // namespace stagecraft
