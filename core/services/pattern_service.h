// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace swage::services {

// One tunable number of a pattern.
struct PatternParameter {
  std::string name;
  std::vector<std::int64_t> values;
  std::int64_t standard = 0;  // the value of the source as it stands
  std::string description;
};

// One parametrised kernel of the catalogue.
struct PatternInfo {
  std::string id;        // unique within its language
  std::string language;  // "CUDA C++"
  std::string family;    // what kind of region it computes
  std::string description;
  std::string sourceFile;  // name only
  std::string source;
  std::vector<PatternParameter> parameters;
  std::map<std::string, std::string> facts;  // what else its manifest says
};

// The catalogue of patterns that the synthesiser draws from. Small files, answered at once on the calling thread.
class PatternService {
 public:
  virtual ~PatternService() = default;
  // By language, then id. Fails on the first manifest that cannot be read, naming it.
  [[nodiscard]] virtual Result<std::vector<PatternInfo>> patterns() const = 0;
};

}  // namespace swage::services
