// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/domain/compilation.h"

namespace swage::process {

// Programs whose parts are compiled one by one, and the binaries of parts that earlier programs had, too: most
// candidates differ from their parents in one kernel. What fails is not kept, since a busy machine may be to blame: the
// next program tries again. Programs are known by their tokens. One thread.
class SeparateCompilation {
 public:
  // `capacity`: bytes of binaries and listings that are kept at most, beside those that somebody waits for.
  explicit SeparateCompilation(std::size_t capacity = std::size_t{256} << 20U) : m_capacity(capacity) {}

  struct Finished {
    std::uint64_t token = 0;
    domain::CompileRequest request;
    domain::CompileOutcome outcome;
  };
  // A part that nobody has compiled yet, nor does now.
  struct Wanted {
    std::string key;
    domain::CompileRequest request;
  };

  // Which parts have to be compiled for the program. It may be finished then: see takeFinished().
  [[nodiscard]] std::vector<Wanted> begin(std::uint64_t token, const domain::CompileRequest& request);
  // One of those is compiled, or failed: then all programs with it have failed.
  void finish(const std::string& key, domain::CompileOutcome outcome);
  // Programs that are compiled, with one binary of all parts, or have failed.
  [[nodiscard]] std::vector<Finished> takeFinished();
  // Nobody waits any more; what is compiled stays known.
  void forgetWaiting();

  [[nodiscard]] std::size_t keptBytes() const { return m_keptBytes; }

 private:
  using Binary = std::shared_ptr<const domain::CompiledBinary>;
  struct Part {
    Binary binary = {};                                        // null: it is being compiled
    std::vector<std::uint64_t> waiting = {};                   // while it is being compiled
    std::optional<std::list<std::string>::iterator> use = {};  // of those that are kept
  };
  struct Program {
    domain::CompileRequest request;
    std::vector<std::string> keys;  // of its parts
    std::size_t missing = 0;
    std::vector<Binary> binaries = {};  // of its parts, null where one is missing
    double seconds = 0.0;               // of what was compiled since it began
  };

  void keep(const std::string& key, Part& part);
  void use(Part& part);
  void give(std::uint64_t token, const std::string& key, const Binary& binary);
  void conclude(std::uint64_t token, domain::CompileOutcome outcome);
  void concludeWhole(std::uint64_t token, const Program& program);

  std::size_t m_capacity;
  std::size_t m_keptBytes = 0;
  std::unordered_map<std::string, Part> m_parts;  // by what is compiled, with what and for what
  std::list<std::string> m_uses;                  // keys of those with a binary, the last used one first
  std::unordered_map<std::uint64_t, Program> m_programs;
  std::vector<Finished> m_finished;
};

// One binary of the binaries of a program's parts, in the order of the parts. The kernels know their lines in the
// source.
[[nodiscard]] domain::CompiledBinary joined(const std::vector<domain::SourcePart>& parts,
                                            const std::vector<const domain::CompiledBinary*>& binaries);

}  // namespace swage::process
