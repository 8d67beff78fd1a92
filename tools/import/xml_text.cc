#include "tools/import/xml_text.h"

#include <algorithm>
#include <string_view>

#include "costmodel/check.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

size_t LineOf(const std::string& text, size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return static_cast<size_t>(std::count(text.begin(), end, '\n'));
}

// The index of the '>' that ends the tag which begins at `at`; quoted text may hold any character.
size_t TagEnd(const std::string& text, size_t at) {
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at;
    }
  }
  return text.size();
}

// Checks the depth before the tree is built, since building and freeing it recurses.
void CheckDepth(const std::string& text, const std::string& name) {
  int depth = 0;
  for (size_t at = 0; (at = text.find('<', at)) != text.npos;) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest.starts_with("<!--")) {
      at = std::min(text.find("-->", at), text.size());
      continue;
    }
    if (rest.starts_with("<!")) {
      throw InputError(AtLine(name, LineOf(text, at)) + "got a declaration " +
                       Quoted(rest.substr(0, 12)) + ", want only elements and comments");
    }
    const size_t end = TagEnd(text, at);
    if (rest.starts_with("</")) {
      --depth;
    } else if (!rest.starts_with("<?") && end > at && text[end - 1] != '/') {
      if (++depth > kMostXmlDepth) {
        throw InputError(AtLine(name, LineOf(text, at)) + "got elements nested " +
                         std::to_string(depth) + " deep, want " + std::to_string(kMostXmlDepth) +
                         " at most");
      }
    }
    at = std::max(end, at + 1);
  }
}

}  // namespace

void ParseXml(const std::string& text, const std::string& name, pugi::xml_document* document) {
  CheckDepth(text, name);
  const pugi::xml_parse_result result = document->load_buffer(text.data(), text.size());
  if (result) return;
  throw InputError(AtLine(name, LineOf(text, static_cast<size_t>(result.offset))) +
                   "got XML with \"" + result.description() + "\", want well-formed elements");
}

std::string XmlSource::At(const pugi::xml_node& node) const {
  return AtLine(name, LineOf(text, static_cast<size_t>(node.offset_debug()))) + "<" + node.name() +
         ">";
}

void XmlSource::Fail(const pugi::xml_node& node, const std::string& attribute,
                     const std::string& problem) const {
  throw InputError(At(node) + (attribute.empty() ? "" : " " + attribute) + ": " + problem);
}

int XmlSource::WholeAttribute(const pugi::xml_node& node, const char* attribute, int most) const {
  return static_cast<int>(
      ParseWhole(node.attribute(attribute).value(), 0, most, At(node) + " " + attribute));
}

}  // namespace stagecraft
