#include "tools/frameworks/shell_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "tools/frameworks/shell_words.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

constexpr int kMostScripts = 8;  // in quotes in each other

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// Whether a command starts a Python program: a file, or a module that is no launcher.
bool StartsPython(const std::vector<ShellWord>& words) {
  bool has_launcher = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (!text.starts_with('-') && text.ends_with(".py") && text.find(' ') == text.npos) return true;
    const std::string_view base = BaseName(text);
    has_launcher = has_launcher || base.starts_with("python") || base == "torchrun";
    const bool is_module = has_launcher && text == "-m" && i + 1 < words.size();
    if (is_module && !words[i + 1].text.starts_with("torch.distributed") &&
        !words[i + 1].text.starts_with("pip") && !words[i + 1].text.starts_with("venv")) {
      return true;
    }
  }
  return false;
}

// Finds the commands that start Python programs, also in scripts in quotes after -c.
class LaunchFinder {
 public:
  LaunchFinder(std::string name, const ShellVariables& given)
      : name_(std::move(name)), given_(given) {}

  void Search(const std::string& text, int line, int depth) {
    ShellReader reader(text, name_, given_, line);
    while (std::optional<std::vector<ShellWord>> command = reader.Next()) {
      if (const ShellWord* const script = ScriptIn(*command)) {
        if (depth < kMostScripts) Search(script->text, script->line, depth + 1);
      } else if (StartsPython(*command)) {
        found_.push_back(std::move(*command));
      }
    }
  }

  std::vector<ShellWord> TakeOnly() {
    if (found_.size() == 1) return std::move(found_[0]);
    if (found_.empty()) {
      throw InputError(name_ +
                       ": got no command that starts a Python program, want one such as torchrun "
                       "pretrain_gpt.py");
    }
    throw InputError(
        fmt::format("{}: got {} commands that start Python programs, in lines {} and {}, want one",
                    name_, found_.size(), found_[0][0].line, found_[1][0].line));
  }

 private:
  // The script of "bash -c 'torchrun ...'", however it is started.
  static const ShellWord* ScriptIn(const std::vector<ShellWord>& words) {
    for (size_t i = 1; i + 1 < words.size(); ++i) {
      const bool is_shell = BaseName(words[i - 1].text) == "bash" || words[i - 1].text == "sh";
      const std::string& flag = words[i].text;
      if (is_shell && flag.starts_with('-') && flag.ends_with('c')) return &words[i + 1];
    }
    return nullptr;
  }

  std::string name_;
  const ShellVariables& given_;
  std::vector<std::vector<ShellWord>> found_;
};

// The options that lines beginning with #SBATCH give.
std::map<std::string, std::string> SlurmOptions(const std::string& text) {
  std::map<std::string, std::string> options;
  for (std::string_view line : SplitLines(text)) {
    if (!line.starts_with("#SBATCH")) continue;
    const std::vector<std::string_view> words = SplitWords(line.substr(7));
    for (size_t i = 0; i < words.size(); ++i) {
      std::string_view word = words[i];
      if (!word.starts_with('-')) continue;
      word.remove_prefix(word.starts_with("--") ? 2 : 1);
      const size_t equals = word.find('=');
      std::string name(word.substr(0, equals));
      if (name == "N") name = "nodes";
      const bool has_next = i + 1 < words.size() && !words[i + 1].starts_with('-');
      const std::string_view value = equals != word.npos ? word.substr(equals + 1)
                                     : has_next          ? words[i + 1]
                                                         : std::string_view();
      options.insert_or_assign(std::move(name), std::string(value));
    }
  }
  return options;
}

}  // namespace

LaunchCommand ReadLaunchScript(const std::string& text, const std::string& name,
                               const ShellVariables& given) {
  LaunchCommand launch;
  launch.slurm = SlurmOptions(text);
  ShellVariables variables = given;
  // What Slurm sets for the job.
  for (const auto& [option, names] : std::map<std::string, std::vector<const char*>>{
           {"nodes", {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}},
           {"ntasks-per-node", {"SLURM_NTASKS_PER_NODE"}},
           {"gpus-per-node", {"SLURM_GPUS_PER_NODE"}},
           {"ntasks", {"SLURM_NTASKS", "SLURM_NPROCS"}}}) {
    const auto found = launch.slurm.find(option);
    if (found == launch.slurm.end() || found->second.empty()) continue;
    for (const char* variable : names) variables.try_emplace(variable, found->second);
  }
  LaunchFinder finder(name, variables);
  finder.Search(text, 1, 0);
  launch.words = finder.TakeOnly();
  return launch;
}

}  // namespace stagecraft
