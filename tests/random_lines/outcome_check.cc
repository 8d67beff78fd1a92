#include "tests/random_lines/outcome_check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

namespace stagecraft::random_lines {
namespace {

using nlohmann::json;

constexpr double kRounding = 1e-9;  // relative
constexpr size_t kLeastOfASentence = 16;

// Endings of the keys of times, rates and sizes.
constexpr std::array<std::string_view, 8> kAmounts = {"_ms", "_ns",  "_s",     "_per_s",
                                                      "_us", "_gib", "_bytes", "_usd"};
// A key that contains one of these belongs to a difference, which may be negative.
constexpr std::array<std::string_view, 4> kSigned = {"difference", "error", "change", "gain"};
// Keys of values that depend on the machine's speed, so that they differ from run to run.
constexpr std::array<std::string_view, 6> kSpeeds = {"wall_ms",           "tasks_per_s", "seconds",
                                                     "evaluations_per_s", "evaluations", "curves"};

bool Has(const Args& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <size_t kCount>
bool EndsWithAny(std::string_view key, const std::array<std::string_view, kCount>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return key.ends_with(ending); });
}

bool IsSigned(std::string_view key) {
  return std::any_of(kSigned.begin(), kSigned.end(), [&](std::string_view part) {
    return key.find(part) != std::string_view::npos;
  });
}

bool IsShare(std::string_view key) { return key == "bubble_fraction" || key.ends_with("_share"); }

class ReportCheck {
 public:
  std::vector<std::string> Find(const json& report) {
    Visit(report, "", "");
    return std::move(problems_);
  }

 private:
  void Say(const std::string& path, const json& value, const std::string& want) {
    problems_.push_back(path + ": got " + value.dump() + ", want " + want);
  }

  void CheckNumber(const json& value, const std::string& key, const std::string& path) {
    const double number = value.get<double>();
    if (!std::isfinite(number)) Say(path, value, "a finite number");
    if (number == -1 && !IsSigned(path)) Say(path, value, "null where there is none");
    if (EndsWithAny(key, kAmounts) && !IsSigned(path) && number < 0) Say(path, value, "0 or more");
    if (IsShare(key) && !(number >= 0 && number <= 1 + kRounding)) Say(path, value, "0 to 1");
  }

  // Checks that the parts of a step add up to it, and checks its share of the peak rate and its
  // memory.
  void CheckStep(const json& step, const std::string& path) {
    const double time = step.at("step_time_ms").get<double>();
    if (step.contains("breakdown_ms") && !step.contains("steady_state")) {
      double sum = 0;
      for (const json& part : step.at("breakdown_ms")) {
        sum += part.get<double>();
        if (part.get<double>() < 0)
          Say(path + ".breakdown_ms", step.at("breakdown_ms"), "no part below 0");
      }
      if (std::abs(sum - time) > kRounding * time + 1e-6) {
        Say(path + ".breakdown_ms", step.at("breakdown_ms"),
            "parts that add up to " + std::to_string(time));
      }
    }
    CheckUse(step, path);
    if (step.contains("memory") && step.contains("fits")) CheckMemory(step, path);
  }

  // MFU and HFU are measured against the 16-bit peak for training in 8 or 4 bits, and otherwise
  // against the peak of the training's format, which they cannot exceed.
  void CheckUse(const json& step, const std::string& path) {
    if (!step.contains("mfu") || step.at("mfu").is_null()) return;
    if (step.contains("result_hash")) return;  // rows of a sweep have no share of the peak
    if (!step.contains("peak_share")) return Say(path, step.at("mfu"), "peak_share beside mfu");
    const double mfu = step.at("mfu").get<double>();
    const double share = step.at("peak_share").get<double>();
    if (!(share <= mfu * (1 + kRounding))) Say(path, step.at("peak_share"), "no more than mfu");
    if (!step.contains("plan")) return;
    const std::string precision = step.at("plan").value("precision", "");
    if (precision == "fp8" || precision == "nvfp4") return;
    for (const char* key : {"mfu", "hfu"}) {
      const double use = step.at(key).get<double>();
      if (!(use >= 0 && use <= 1 + kRounding)) Say(path + "." + key, step.at(key), "0 to 1");
    }
  }

  void CheckMemory(const json& step, const std::string& path) {
    bool fits = true;
    for (const json& stage : step.at("memory")) {
      if (!stage.contains("usable")) return;
      fits = fits && stage.at("peak").get<double>() <= stage.at("usable").get<double>() &&
             stage.at("host").get<double>() <= stage.at("host_capacity").get<double>();
    }
    if (fits != step.at("fits").get<bool>()) Say(path + ".fits", step.at("fits"), "as its stages");
  }

  void Visit(const json& value, const std::string& key, const std::string& path) {
    if (value.is_number()) return CheckNumber(value, key, path);
    if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) {
        Visit(value[i], key, path + "[" + std::to_string(i) + "]");
      }
    }
    if (!value.is_object()) return;
    if (value.contains("step_time_ms") && value.at("step_time_ms").is_number()) {
      CheckStep(value, path);
    }
    for (const auto& [name, inside] : value.items()) Visit(inside, name, path + "." + name);
  }

  std::vector<std::string> problems_;
};

// Returns a problem for each word of a text that no report may contain.
std::vector<std::string> FindOddWords(const std::string& text) {
  std::vector<std::string> problems;
  std::string word;
  for (const char c : text + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.') {
      word += c;
      continue;
    }
    if (word == "nan" || word == "-nan" || word == "inf" || word == "-inf") {
      problems.push_back("the report says " + word);
    }
    word.clear();
  }
  return problems;
}

void CheckSentence(const Outcome& outcome, bool may_be_several,
                   std::vector<std::string>& problems) {
  const auto lines = std::count(outcome.err.begin(), outcome.err.end(), '\n');
  if (lines != 1 && !may_be_several) {
    problems.push_back("refused in " + std::to_string(lines) + " lines, want one");
  }
  if (!outcome.err.starts_with("stagecraft") || !outcome.err.ends_with('\n') ||
      outcome.err.size() < kLeastOfASentence) {
    problems.push_back("refused without a sentence");
  }
}

void CheckRefused(const Args& words, const Outcome& outcome, std::vector<std::string>& problems) {
  const bool is_check = !words.empty() && words[0] == "check";
  if (!outcome.out.empty() && !is_check) problems.push_back("refused, but it wrote to stdout");
  // Without a verb, the program lists the verbs in several lines.
  CheckSentence(outcome, /*may_be_several=*/is_check || words.empty(), problems);
}

void CheckAnswered(const Args& words, const Outcome& outcome, std::vector<std::string>& problems) {
  const bool is_help = Has(words, "--help") || Has(words, "-h");
  if (outcome.out.empty()) {
    if (outcome.code != kExitInfeasible) problems.push_back("answered with nothing");
    return CheckSentence(outcome, /*may_be_several=*/true, problems);
  }
  if (is_help) return;
  for (const std::string& odd : FindOddWords(outcome.out)) problems.push_back(odd);
  if (!Has(words, "--json")) return;
  const json report = json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) {
    problems.push_back("answered with what is no JSON object");
    return;
  }
  for (const std::string& problem : ReportCheck().Find(report)) problems.push_back(problem);
}

void Forget(json& report) {
  if (report.is_array()) {
    for (json& item : report) Forget(item);
  }
  if (!report.is_object()) return;
  for (const std::string_view key : kSpeeds) report.erase(std::string(key));
  for (json& item : report) Forget(item);
}

}  // namespace

Outcome RunLine(const Args& words) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCommandLine(words, in, out, err);
  return {code, out.str(), err.str()};
}

std::vector<std::string> FindProblems(const Args& words, const Outcome& outcome) {
  std::vector<std::string> problems;
  switch (outcome.code) {
    case kExitBadInput:
      CheckRefused(words, outcome, problems);
      break;
    case kExitOk:
    case kExitInfeasible:
    case kExitThreshold:
      CheckAnswered(words, outcome, problems);
      break;
    case kExitInternal:
      if (!Has(words, "/dev/full")) problems.push_back("failed inside");
      break;
    default:
      problems.push_back("ended with exit code " + std::to_string(outcome.code));
  }
  return problems;
}

std::string Repeatable(const Args& words, const Outcome& outcome) {
  const json report = json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  if (!Has(words, "--json") || !report.is_object()) return std::to_string(outcome.code);
  json kept = report;
  Forget(kept);
  return std::to_string(outcome.code) + kept.dump();
}

}  // namespace stagecraft::random_lines
