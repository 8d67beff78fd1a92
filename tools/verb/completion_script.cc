#include "tools/verb/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/text.h"
#include "tools/verb/command.h"
#include "tools/verb/shell_quoting.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHelpFlags = "--help --help-all --help-json";

bool IsPositional(const Json& flag) {
  return !flag["names"][0].get<std::string>().starts_with('-');
}
bool HasValue(const Json& flag) { return flag["type"] != "switch" && !IsPositional(flag); }

// All spellings of a flag: "--explain", "--no-explain".
Args NamesOf(const Json& flag) {
  Args names = flag["names"].get<Args>();
  for (const Json& name : flag["negations"]) names.push_back(name.get<std::string>());
  return names;
}

Args WordsFor(const Json& flag) {
  Args words = flag["choices"].get<Args>();
  for (const Json& word : flag["suggestions"]) words.push_back(word.get<std::string>());
  return words;
}

// Whether a value may be the path of a file: if no values are listed for it, or if its placeholder
// says that files are values besides those listed.
bool MayBeFile(const Json& flag) {
  const std::string value = flag["value"].get<std::string>();
  const bool may_be = WordsFor(flag).empty() || value.find("file") != std::string::npos ||
                      value.find("network") != std::string::npos;
  return flag["type"] == "text" && flag["choices"].empty() && may_be;
}

// How a value is completed: by which words, and whether by paths of files.
using Values = std::pair<std::string, bool>;

// Returns the branches of a `case` of bash. Flags whose values are completed alike share a branch.
std::string BashValues(const Json& verbs) {
  std::map<Values, Args> patterns;
  for (const Json& verb : verbs) {
    const std::string name = verb["name"].get<std::string>();
    for (const Json& flag : verb["flags"]) {
      if (!HasValue(flag)) continue;
      for (const std::string& spelling : NamesOf(flag)) {
        patterns[{Join(WordsFor(flag), " "), MayBeFile(flag)}].push_back(name + ":" + spelling);
      }
    }
  }
  std::string lines;
  for (const auto& [values, places] : patterns) {
    lines += fmt::format("    {})\n      words='{}' files={} ;;\n", Join(places, "|\\\n    "),
                         values.first, values.second ? "yes" : "");
  }
  return lines;
}

std::string BashFlags(const Json& verbs) {
  std::string lines;
  for (const Json& verb : verbs) {
    Args spellings;
    for (const Json& flag : verb["flags"]) {
      if (IsPositional(flag)) continue;
      for (const std::string& name : NamesOf(flag)) spellings.push_back(name);
    }
    lines += fmt::format("    {}) flags='{} {}' ;;\n", verb["name"].get<std::string>(),
                         Join(spellings, " "), kHelpFlags);
  }
  return lines;
}

// Returns branches for words without dashes: the first may be one of a list, all others are files.
std::string BashPositional(const Json& verbs) {
  std::string lines;
  for (const Json& verb : verbs) {
    for (const Json& flag : verb["flags"]) {
      if (!IsPositional(flag)) continue;
      const Args words = WordsFor(flag);
      if (words.empty()) break;
      lines += fmt::format("        {}:2) words='{}' files= ;;\n", verb["name"].get<std::string>(),
                           Join(words, " "));
      break;
    }
  }
  return lines;
}

// Returns `text` with a backslash before each character that zsh's _arguments would interpret.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Returns the first sentence, which ends with a full stop before a space, for zsh's _arguments.
std::string FirstSentence(const std::string& text) {
  return Escaped(text.substr(0, text.find(". ")));
}

// Returns the action with which zsh completes a value.
std::string ZshAction(const Json& flag) {
  const std::string words = Join(WordsFor(flag), " ");
  if (words.empty()) return MayBeFile(flag) ? "_files" : " ";
  return MayBeFile(flag) ? " _stagecraft_or_files " + words : "(" + words + ")";
}

std::string ZshFlag(const Json& flag) {
  const std::string action = ZshAction(flag), help = FirstSentence(flag["help"].get<std::string>());
  const bool is_list = flag["takes_several"].get<bool>();
  std::string lines;
  const auto add = [&](const std::string& line) {
    lines += "        " + ShellQuoted(line) + " \\\n";
  };
  for (const std::string& name : NamesOf(flag)) {
    if (IsPositional(flag)) {
      add(fmt::format("{}:{}:{}", is_list ? "*" : "", name, action));
    } else if (!HasValue(flag)) {
      add(fmt::format("{}[{}]", name, help));
    } else {
      add(fmt::format("{}{}{}[{}]:{}:{}", is_list ? "*" : "", name,
                      name.starts_with("--") ? "=" : "", help,
                      Escaped(flag["value"].get<std::string>()), action));
    }
  }
  return lines;
}

}  // namespace

std::string BashCompletion(const Json& verbs) {
  Args names;
  for (const Json& verb : verbs) names.push_back(verb["name"].get<std::string>());
  std::string script = "# Completion of stagecraft in bash: source <(stagecraft completion bash)\n";
  script += R"(_stagecraft() {
  local IFS=$' \n' verb=${COMP_WORDS[1]} flags= words= files=yes prefix=
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [[ $word == = ]]; then word=; fi
  if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  if (( COMP_CWORD == 1 )); then
)";
  script += fmt::format("    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n",
                        Join(names, " "));
  script += "    return\n  fi\n  case $verb in\n" + BashFlags(verbs) +
            "  esac\n  case $verb:$before in\n" + BashValues(verbs) + R"(    *)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$word"))
        return
      fi
      case $verb:$COMP_CWORD in
)" + BashPositional(verbs) +
            R"(      esac ;;
  esac
  if [[ $word == *,* && -n $words ]]; then prefix=${word%,*}, word=${word##*,}; fi
  if [[ -n $words ]]; then COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$word")); fi
  if [[ -n $files ]]; then
    IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}
complete -F _stagecraft stagecraft
)";
  return script;
}

std::string ZshCompletion(const Json& verbs) {
  std::string list, cases;
  for (const Json& verb : verbs) {
    const std::string name = verb["name"].get<std::string>();
    list += "      " + ShellQuoted(name + ":" + Escaped(verb["summary"].get<std::string>())) + "\n";
    cases += "    " + name + ")\n      _arguments \\\n";
    for (const Json& flag : verb["flags"]) cases += ZshFlag(flag);
    cases +=
        "        '--help[Explain the common flags]' \\\n"
        "        '--help-all[Explain all flags]' \\\n"
        "        '--help-json[The same as JSON]' ;;\n";
  }
  return "#compdef stagecraft\n"
         "# Completion of stagecraft in zsh: source <(stagecraft completion zsh), or keep it as a\n"
         "# file _stagecraft in a folder of $fpath.\n"
         R"zsh(
_stagecraft_or_files() {
  _alternative "names:name:($*)" 'files:file:_files'
}

_stagecraft() {
  if (( CURRENT == 2 )); then
    local -a verbs=(
)zsh" + list +
         R"zsh(    )
    _describe -t verbs verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
)zsh" + cases +
         R"zsh(  esac
}

if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _stagecraft "$@"
else
  compdef _stagecraft stagecraft
fi
)zsh";
}

}  // namespace stagecraft
