// SPDX-License-Identifier: Apache-2.0
#include "core/process/parted_compilations.h"

#include <algorithm>
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

std::vector<PartedCompilations::Wanted> PartedCompilations::begin(std::uint64_t token,
                                                                  const domain::CompileRequest& request) {
  std::vector<Wanted> wanted;
  Program& program = m_programs[token];
  program = {.request = request, .keys = {}, .missing = request.parts.size()};
  program.binaries.resize(request.parts.size());
  for (const domain::SourcePart& source : request.parts) {
    domain::CompileRequest own = requestFor(source, request);
    const std::string key = keyOf(own);
    program.keys.push_back(key);
    const auto [found, isNew] = m_parts.try_emplace(key);
    if (!found->second.binary && !found->second.failure) {
      found->second.waiting.push_back(token);
    }
    if (isNew) {
      wanted.push_back({key, std::move(own)});
    }
  }
  for (const std::string& key : std::vector<std::string>(program.keys)) {
    if (const Part& part = m_parts.at(key); part.binary || part.failure) {
      give(token, key, part);
    }
  }
  return wanted;
}

void PartedCompilations::finish(const std::string& key, domain::CompileOutcome outcome) {
  const auto found = m_parts.find(key);
  if (found == m_parts.end() || found->second.binary || found->second.failure) {
    return;
  }
  Part& part = found->second;
  double seconds = 0.0;
  if (auto* failed = std::get_if<domain::CompileFailed>(&outcome)) {
    part.failure = std::move(*failed);
  } else {
    part.binary = std::make_shared<domain::CompiledBinary>(std::get<domain::CompiledBinary>(std::move(outcome)));
    seconds = part.binary->seconds;
  }
  for (const std::uint64_t token : std::exchange(part.waiting, {})) {
    if (const auto program = m_programs.find(token); program != m_programs.end()) {
      program->second.seconds += seconds;
      give(token, key, part);
    }
  }
  if (part.binary) {
    keep(key, part);  // last: it may be too large to be kept
  }
}

void PartedCompilations::give(std::uint64_t token, const std::string& key, const Part& part) {
  const auto found = m_programs.find(token);
  if (found == m_programs.end()) {
    return;  // another part of it failed
  }
  if (part.failure) {
    conclude(token, *part.failure);
    return;
  }
  Program& program = found->second;
  if (part.use) {
    m_uses.splice(m_uses.begin(), m_uses, *part.use);
  }
  for (std::size_t i = 0; i < program.keys.size(); ++i) {
    if (program.keys[i] == key && !program.binaries[i]) {
      program.binaries[i] = part.binary;
      --program.missing;
    }
  }
  if (program.missing == 0) {
    concludeWhole(token, program);
  }
}

void PartedCompilations::concludeWhole(std::uint64_t token, const Program& program) {
  std::vector<const domain::CompiledBinary*> binaries;
  std::transform(program.binaries.begin(), program.binaries.end(), std::back_inserter(binaries),
                 [](const Binary& binary) { return binary.get(); });
  domain::CompiledBinary all = joined(program.request.parts, binaries);
  all.seconds = program.seconds;
  conclude(token, std::move(all));
}

void PartedCompilations::conclude(std::uint64_t token, domain::CompileOutcome outcome) {
  auto program = m_programs.extract(token);
  m_finished.push_back({token, std::move(program.mapped().request), std::move(outcome)});
}

void PartedCompilations::keep(const std::string& key, Part& part) {
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

std::vector<PartedCompilations::Finished> PartedCompilations::takeFinished() {
  return std::exchange(m_finished, {});
}

void PartedCompilations::forgetWaiting() {
  m_programs.clear();
  m_finished.clear();
  std::erase_if(m_parts, [](const auto& part) { return !part.second.binary && !part.second.failure; });
}

}  // namespace swage::process
