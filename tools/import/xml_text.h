// Reads XML with bounded depth, and with lines for errors.
#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>

namespace stagecraft {

inline constexpr int kMostXmlDepth = 64;

// Parses `text` into `document`; throws an InputError with `name` and a line for broken XML and for
// elements nested deeper than kMostXmlDepth.
void ParseXml(const std::string& text, const std::string& name, pugi::xml_document* document);

// Where elements come from, for error messages about them. Refers to text and name, which must
// outlive it.
struct XmlSource {
  const std::string& text;
  const std::string& name;

  // "topo.xml: line 7: <gpu>": opens a sentence about an element.
  std::string At(const pugi::xml_node& node) const;
  // Throws an InputError about an element, or an attribute of it.
  [[noreturn]] void Fail(const pugi::xml_node& node, const std::string& attribute,
                         const std::string& problem) const;
  // The value of an attribute from 0 to `most`; throws InputError for anything else.
  int WholeAttribute(const pugi::xml_node& node, const char* attribute, int most) const;
};

}  // namespace stagecraft
