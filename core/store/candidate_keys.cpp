// SPDX-License-Identifier: Apache-2.0
#include "core/store/candidate_keys.h"

#include "core/base/sha256.h"
#include "core/domain/json.h"

namespace swage::store {
namespace {

std::string planText(const domain::Program& program) {
  return domain::toJson(program.plan).dump();
}

}  // namespace

std::string sourceHash(const domain::Program& program) {
  std::string text = program.source;
  text += '\0';
  text += planText(program);
  for (const std::string& flag : program.compileFlags) {
    text += '\0';
    text += flag;
  }
  return sha256Hex(text);
}

std::string binaryKey(const CandidateRecord& record) {
  return record.binaryHash.empty() ? std::string() : record.binaryHash + ' ' + sha256Hex(planText(record.program));
}

}  // namespace swage::store
