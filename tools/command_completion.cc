// completion: a script that completes command lines in a shell.
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include "tools/verb/command.h"
#include "tools/verb/completion_script.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// Returns the name, the summary and the flags of every verb.
Json DescribeVerbs() {
  Json verbs = Json::array();
  for (const Command& command : Commands()) {
    std::istringstream in;
    std::ostringstream out, err;
    command.run({"--help-json"}, in, out, err);
    Json flags = std::move(Json::parse(out.str())["flags"]);
    verbs.push_back(
        {{"name", command.name}, {"summary", command.summary}, {"flags", std::move(flags)}});
  }
  return verbs;
}

}  // namespace

int RunCompletion(const Args& args, std::istream&, std::ostream& out, std::ostream&) {
  Flags flags("completion",
              "Prints a script with which a shell completes verbs, flags and values.");
  std::string shell;
  bool quiet = false;  // accepted, though nothing is printed that it could suppress
  flags.AddExample("completion bash > ~/.local/share/bash-completion/completions/stagecraft");
  flags.AddExample("completion zsh > ~/.zfunc/_stagecraft");
  flags.In(FlagTopic::kInput)
      .Add("SHELL", shell, {"", "The shell that the script is for."})
      .OneOf({"bash", "zsh"})
      .Required();
  flags.AddQuiet(quiet);
  flags.AddNote(
      "In a shell that already runs, load it by: source <(stagecraft completion bash). zsh finds "
      "the file in a folder of $fpath when it starts.");
  if (flags.Parse(args, out)) return kExitOk;
  out << (shell == "bash" ? BashCompletion(DescribeVerbs()) : ZshCompletion(DescribeVerbs()));
  return kExitOk;
}

}  // namespace stagecraft
