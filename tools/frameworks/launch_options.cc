#include "tools/frameworks/launch_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/workload/limits.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

bool IsOption(const ShellWord& word) {
  if (!word.text.starts_with('-') || word.text.size() < 2) return false;
  const auto second = static_cast<unsigned char>(word.text[1]);
  return !std::isdigit(second) && second != '.';  // a negative number is a value
}

// The name without dashes and what stands behind '='.
std::string OptionName(std::string_view text) {
  while (text.starts_with('-')) text.remove_prefix(1);
  return std::string(text.substr(0, text.find('=')));
}

std::string Place(const std::string& file, const ShellWord& word) {
  return fmt::format("{}: line {}: {}", file, word.line, word.text.substr(0, word.text.find('=')));
}

class OptionSplitter {
 public:
  OptionSplitter(const std::vector<ShellWord>& words, const std::string& file,
                 const std::function<OptionValues(std::string_view)>& values)
      : words_(words), file_(file), values_(values) {}

  std::vector<Option> Run(size_t first, size_t end) {
    std::vector<Option> options;
    for (size_t i = first; i < end;) {
      const ShellWord& word = words_[i++];
      if (!IsOption(word)) {
        // A word that a variable without a value stands for may have been options.
        options.push_back(
            {"", word.text, fmt::format("{}: line {}", file_, word.line), word.unset});
        continue;
      }
      Option option{OptionName(word.text), true, Place(file_, word), word.unset};
      const size_t equals = word.text.find('=');
      if (equals != std::string::npos) {
        option.value = word.text.substr(equals + 1);
      } else {
        i = TakeValues(option, i, end);
      }
      options.push_back(std::move(option));
    }
    return options;
  }

 private:
  size_t TakeValues(Option& option, size_t at, size_t end) {
    const OptionValues kind = values_(option.name);
    if (kind == OptionValues::kNone) return at;
    std::vector<std::string> texts;
    while (at < end && !IsOption(words_[at])) {
      if (option.unset.empty()) option.unset = words_[at].unset;
      texts.push_back(words_[at++].text);
      if (kind == OptionValues::kOne) break;
    }
    if (texts.empty() && kind != OptionValues::kUnknown) {
      throw InputError(option.place + ": got no value, want one");
    }
    if (texts.size() == 1) option.value = texts[0];
    if (texts.size() > 1) option.value = texts;
    return at;
  }

  const std::vector<ShellWord>& words_;
  const std::string& file_;
  const std::function<OptionValues(std::string_view)>& values_;
};

// The index of the word that is the program: the file, or the module behind -m.
size_t ProgramIndex(const std::vector<ShellWord>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (!IsOption(words[i]) && words[i].text.ends_with(".py")) return i;
    if (words[i].text == "-m" && i + 1 < words.size() &&
        !words[i + 1].text.starts_with("torch.distributed")) {
      return i + 1;
    }
  }
  return words.size();
}

// torchrun's --nnodes 2 --nproc-per-node 8 and srun's -N 2 --ntasks-per-node 8, in any spelling.
class ProcessReader {
 public:
  explicit ProcessReader(std::vector<Option> options) {
    for (Option& option : options) {
      std::replace(option.name.begin(), option.name.end(), '_', '-');
    }
    reader_.emplace(std::move(options));
  }

  LaunchOptions Run(const std::map<std::string, std::string>& slurm, const std::string& file) {
    LaunchOptions launch;
    OptionReader& reader = *reader_;
    const bool is_torchrun = reader.Has("nproc-per-node");
    for (const char* name : {"nnodes", "nodes", "N"}) Take(name, "nodes", launch.processes.nodes);
    Take("nproc-per-node", "processes of a node", launch.processes.per_node);
    if (!is_torchrun) Take("ntasks-per-node", "processes of a node", launch.processes.per_node);
    if (is_torchrun && launch.processes.nodes == 0) {
      // torchrun's default is one node; under srun the job's nodes count.
      const std::optional<int64_t> nodes = FromSlurm(slurm, "nodes", file);
      launch.processes.nodes = nodes.value_or(reader.Has("nnodes") ? 0 : 1);
    }
    if (launch.processes.nodes == 0) {
      launch.processes.nodes = FromSlurm(slurm, "nodes", file).value_or(0);
    }
    if (launch.processes.per_node == 0) {
      launch.processes.per_node = FromSlurm(slurm, "ntasks-per-node", file).value_or(0);
    }
    launch.launcher = reader.Report({}).understood;
    return launch;
  }

 private:
  void Take(const char* name, const char* what, int64_t& count) {
    const Option* const option = reader_->Find(name);
    if (option == nullptr) return;
    // "gpu", "auto" and "1:4" leave the number open, and so does a variable of the job.
    const std::string text = option->value.is_string() ? option->value.get<std::string>() : "";
    const bool is_open =
        !option->unset.empty() || text.empty() ||
        !std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    if (is_open) return;
    count = *reader_->Whole(name, 1, kMostOfADegree);
    reader_->Became(name, fmt::format("{} {}", count, what));
  }

  static std::optional<int64_t> FromSlurm(const std::map<std::string, std::string>& slurm,
                                          const char* name, const std::string& file) {
    const auto found = slurm.find(name);
    if (found == slurm.end()) return std::nullopt;
    return ParseWhole(found->second, 1, kMostOfADegree,
                      fmt::format("{}: #SBATCH --{}", file, name));
  }

  std::optional<OptionReader> reader_;
};

}  // namespace

LaunchOptions ReadLaunchOptions(const LaunchCommand& command, const std::string& name,
                                const std::function<OptionValues(std::string_view)>& values) {
  const std::vector<ShellWord>& words = command.words;
  const size_t program = ProgramIndex(words);
  CHECK(program < words.size());
  const std::function<OptionValues(std::string_view)> one = [](std::string_view) {
    return OptionValues::kUnknown;
  };
  std::vector<Option> before = OptionSplitter(words, name, one).Run(0, program);
  for (Option& option : before) {  // of "--standalone train.py" etc. only the first word counts
    if (option.value.is_array()) option.value = option.value[0];
  }
  LaunchOptions launch = ProcessReader(std::move(before)).Run(command.slurm, name);
  launch.program = words[program].text;
  launch.options = OptionSplitter(words, name, values).Run(program + 1, words.size());
  return launch;
}

}  // namespace stagecraft
