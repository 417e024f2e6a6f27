// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/candidate.h"

namespace swage::domain {

// What a person said about a candidate. Nothing of it changes what was measured.
struct Annotation {
  bool pinned = false;
  bool trashed = false;           // left out of lists until it is restored; the record keeps it
  std::vector<std::string> tags;  // in order
  std::string note;
  friend bool operator==(const Annotation&, const Annotation&) = default;
};

// Changes to annotations, made together or not at all.
struct AnnotationEdit {
  struct Tagging {
    CandidateId candidate;
    std::string tag;
    friend bool operator==(const Tagging&, const Tagging&) = default;
  };
  struct Noting {
    CandidateId candidate;
    std::string note;  // empty: none any more
    friend bool operator==(const Noting&, const Noting&) = default;
  };
  std::vector<CandidateId> pin = {};
  std::vector<CandidateId> unpin = {};
  std::vector<CandidateId> trash = {};
  std::vector<CandidateId> restore = {};
  std::vector<Tagging> tag = {};
  std::vector<Tagging> untag = {};
  std::vector<Noting> note = {};

  [[nodiscard]] bool isEmpty() const { return *this == AnnotationEdit(); }
  friend bool operator==(const AnnotationEdit&, const AnnotationEdit&) = default;
};

}  // namespace swage::domain
