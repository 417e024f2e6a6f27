// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swage::judge {

// What is known of a candidate or one of its kernels, by name: numbers, which conditions are about, and words, which
// only texts use. What was not measured has no entry. resources/rules/README.md lists the names.
class Facts {
 public:
  void set(std::string name, double value) { m_numbers[std::move(name)] = value; }
  void set(std::string name, const std::optional<double>& value) {
    if (value) {
      set(std::move(name), *value);
    }
  }
  void setWord(std::string name, std::string word) { m_words[std::move(name)] = std::move(word); }

  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  [[nodiscard]] const std::string* word(std::string_view name) const;

  // `text` with each {name} replaced by its fact: a word, or a number in as many digits as a person reads; {name:%} in
  // per cent, {name:bytes} and {name:time} (of nanoseconds) with a unit. No value: a fact is not known.
  [[nodiscard]] std::optional<std::string> fill(std::string_view text) const;
  // The facts that a text mentions.
  [[nodiscard]] static std::vector<std::string> namesIn(std::string_view text);

 private:
  std::map<std::string, double, std::less<>> m_numbers;
  std::map<std::string, std::string, std::less<>> m_words;
};

}  // namespace swage::judge
