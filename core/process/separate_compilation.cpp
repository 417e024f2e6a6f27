// SPDX-License-Identifier: Apache-2.0
#include "core/process/separate_compilation.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include "core/base/sha256.h"
#include "core/domain/source_map.h"

namespace swage::process {
namespace {

domain::CompileRequest requestFor(const domain::SourcePart& part, const domain::CompileRequest& program) {
  return {.language = program.language,
          .source = part.source,
          .entries = part.entries,
          .architecture = program.architecture,
          .flags = program.flags};
}

std::string keyOf(const domain::CompileRequest& request) {
  std::string text = std::string(domain::name(request.language)) + '\0' + request.architecture + '\0';
  for (const auto& list : {request.flags, request.entries}) {
    for (const std::string& item : list) {
      text += item + '\0';
    }
    text += '\0';
  }
  return sha256Hex(text + request.source);
}

std::size_t bytesOf(const domain::CompiledBinary& binary) {
  return binary.bytes.size() + binary.assembly.size() + binary.log.size();
}

}  // namespace

domain::CompiledBinary joined(const std::vector<domain::SourcePart>& parts,
                              const std::vector<const domain::CompiledBinary*>& binaries) {
  domain::CompiledBinary all;
  std::string hashes;
  for (std::size_t i = 0; i < binaries.size(); ++i) {
    const domain::CompiledBinary& binary = *binaries[i];
    all.bytes += binary.bytes;
    all.assembly += domain::withProgramLines(binary.assembly, parts[i].lines);
    all.log += binary.log;
    hashes += binary.binaryHash;
    for (domain::KernelFacts facts : binary.kernels) {
      facts.lines = parts[i].lines;
      all.kernels.push_back(std::move(facts));
    }
  }
  all.assembly += domain::kProgramFile;
  all.binaryHash = sha256Hex(hashes);
  return all;
}

std::vector<SeparateCompilation::Wanted> SeparateCompilation::begin(std::uint64_t token,
                                                                    const domain::CompileRequest& request) {
  std::vector<Wanted> wanted;
  std::map<std::string, Binary> known;
  Program& program = m_programs[token];
  program = {.request = request, .keys = {}, .missing = request.parts.size()};
  program.binaries.resize(request.parts.size());
  for (const domain::SourcePart& source : request.parts) {
    domain::CompileRequest own = requestFor(source, request);
    const std::string& key = program.keys.emplace_back(keyOf(own));
    const auto [found, isNew] = m_parts.try_emplace(key);
    Part& part = found->second;
    if (part.binary) {
      use(part);
      known.emplace(key, part.binary);
    } else {
      part.waiting.push_back(token);
    }
    if (isNew) {
      wanted.push_back({key, std::move(own)});
    }
  }
  for (const auto& [key, binary] : known) {
    give(token, key, binary);
  }
  return wanted;
}

void SeparateCompilation::finish(const std::string& key, domain::CompileOutcome outcome) {
  const auto found = m_parts.find(key);
  if (found == m_parts.end() || found->second.binary) {
    return;
  }
  const std::vector<std::uint64_t> waiting = std::exchange(found->second.waiting, {});
  if (const auto* failure = std::get_if<domain::CompileFailed>(&outcome)) {
    m_parts.erase(found);
    for (const std::uint64_t token : waiting) {
      conclude(token, *failure);
    }
    return;
  }
  const auto binary = std::make_shared<domain::CompiledBinary>(std::get<domain::CompiledBinary>(std::move(outcome)));
  found->second.binary = binary;
  for (const std::uint64_t token : waiting) {
    if (const auto program = m_programs.find(token); program != m_programs.end()) {
      program->second.seconds += binary->seconds;
      give(token, key, binary);
    }
  }
  keep(key, found->second);  // last: it may be too large to be kept
}

void SeparateCompilation::use(Part& part) {
  if (part.use) {
    m_uses.splice(m_uses.begin(), m_uses, *part.use);
  }
}

void SeparateCompilation::give(std::uint64_t token, const std::string& key, const Binary& binary) {
  Program& program = m_programs.at(token);
  for (std::size_t i = 0; i < program.keys.size(); ++i) {
    if (program.keys[i] == key && !program.binaries[i]) {
      program.binaries[i] = binary;
      --program.missing;
    }
  }
  if (program.missing == 0) {
    concludeWhole(token, program);
  }
}

void SeparateCompilation::concludeWhole(std::uint64_t token, const Program& program) {
  std::vector<const domain::CompiledBinary*> binaries;
  std::transform(program.binaries.begin(), program.binaries.end(), std::back_inserter(binaries),
                 [](const Binary& binary) { return binary.get(); });
  domain::CompiledBinary all = joined(program.request.parts, binaries);
  all.seconds = program.seconds;
  conclude(token, std::move(all));
}

void SeparateCompilation::conclude(std::uint64_t token, domain::CompileOutcome outcome) {
  if (auto program = m_programs.extract(token)) {  // else another part of it has failed before
    m_finished.push_back({token, std::move(program.mapped().request), std::move(outcome)});
  }
}

void SeparateCompilation::keep(const std::string& key, Part& part) {
  m_uses.push_front(key);
  part.use = m_uses.begin();
  m_keptBytes += bytesOf(*part.binary);
  while (m_keptBytes > m_capacity && !m_uses.empty()) {
    const auto last = m_parts.find(m_uses.back());
    m_keptBytes -= bytesOf(*last->second.binary);
    m_parts.erase(last);
    m_uses.pop_back();
  }
}

std::vector<SeparateCompilation::Finished> SeparateCompilation::takeFinished() {
  return std::exchange(m_finished, {});
}

void SeparateCompilation::forgetWaiting() {
  m_programs.clear();
  m_finished.clear();
  std::erase_if(m_parts, [](const auto& part) { return !part.second.binary; });
}

}  // namespace swage::process
