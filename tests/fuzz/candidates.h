// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/compilation.h"
#include "core/domain/device_info.h"
#include "core/patterns/catalogue.h"
#include "tests/fuzz/fuzz_case.h"

namespace swage::fuzz {

// One program for a case.
struct Candidate {
  domain::Genome genome;
  domain::Program program;
};

struct Candidates {
  std::vector<Candidate> programs;
  std::vector<Finding> findings;  // what the synthesiser said that it must not say of its own genomes
};

// Genomes as a search would propose them, each step of the search taken once, and the programs of `count` of them and
// of the genomes that the case came with. Whatever is wrong with the synthesiser may end the process.
[[nodiscard]] Candidates synthesise(const FuzzCase& which, const domain::DeviceInfo& device,
                                    const patterns::Catalogue& catalogue, std::size_t count);

// A device of each kind, the same everywhere.
[[nodiscard]] domain::DeviceInfo deviceFor(domain::DeviceKind target);

// Several programs in one source, so that the compiler is started once. Their kernels get names of their own, in
// the source and in the plans.
class Batch {
 public:
  struct Member {
    const Candidate* candidate;
    domain::LaunchPlan plan;
  };

  // The candidate must outlive the batch.
  void add(const Candidate& candidate);
  [[nodiscard]] domain::CompileRequest request(domain::DeviceKind target) const;
  [[nodiscard]] const std::vector<Member>& members() const { return m_members; }

 private:
  std::string m_source;
  std::vector<std::string> m_entries;
  std::vector<Member> m_members;
};

}  // namespace swage::fuzz
