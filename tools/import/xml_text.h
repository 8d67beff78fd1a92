// XML read with care: bounded depth, and lines for errors.
#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>

namespace stagecraft {

inline constexpr int kMostXmlDepth = 64;

// Parses `text` into `document`; throws InputError with `name` and a line for
// broken XML and elements nested deeper than kMostXmlDepth.
void ParseXml(const std::string& text, const std::string& name, pugi::xml_document* document);

// Where elements came from, for complaints about them. Borrows text and name.
struct XmlSource {
  const std::string& text;
  const std::string& name;

  // "topo.xml: line 7: <gpu>": opens a sentence about an element.
  std::string At(const pugi::xml_node& node) const;
  // Throws InputError about an element, or an attribute of it.
  [[noreturn]] void Fail(const pugi::xml_node& node, const std::string& attribute,
                         const std::string& problem) const;
  // An attribute that is 0 to `most`; throws InputError for all else.
  int WholeAttribute(const pugi::xml_node& node, const char* attribute, int most) const;
};

}  // namespace stagecraft
