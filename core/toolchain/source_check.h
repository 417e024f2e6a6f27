// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace swage::toolchain {

// What a source in one language of the family of C may include and say.
struct SourceRules {
  std::string_view language;                  // to people
  std::span<const std::string_view> headers;  // that it may include
  std::span<const std::string_view> folders;  // of which it may include every header
  std::span<const std::string_view> words;    // that it may not contain
};
// Of C++: inline assembly, attributes and pragmas that run code at load time, place data among code or bring fast math
// back, and what tells one compilation of a text from another: which files there are, its own name, the time.
[[nodiscard]] const SourceRules& cppSourceRules();
[[nodiscard]] const SourceRules& cudaSourceRules();

// What of a source proves that it tries to leave the kernel, in words for the compile log ("line 3: #include <fstream>
// is not allowed …"); empty for a source that may be compiled.
//
// Refused by every language's rules: headers that are not on its list, computed includes, raw strings (they can hide a
// directive from this check), other names and numbers for lines. Where the rules have words, those are refused too, and
// token pasting and pragmas that can spell one. This is a filter, not a proof: what a C++ candidate calls is checked
// again in the linked file (shared_object_check.h).
[[nodiscard]] std::optional<std::string> findRefusal(const SourceRules& rules, std::string_view source);

// Of a preprocessed text, what comes from the file `source` itself, each line at its number; not what it includes.
[[nodiscard]] std::string ownPart(std::string_view preprocessed, std::string_view source);

}  // namespace swage::toolchain
