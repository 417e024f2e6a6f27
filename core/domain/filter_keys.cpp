// SPDX-License-Identifier: Apache-2.0
#include "core/domain/candidate.h"
#include "core/domain/evaluation.h"
#include "core/domain/filter.h"
#include "core/domain/record/status.h"

namespace swage::domain {
namespace {

std::vector<std::string_view> candidateStatuses() {
  std::vector<std::string_view> words = {name(CandidateStatus::Pending), name(CandidateStatus::NotEvaluated)};
  const std::span<const std::string_view> ends = statusNames();
  words.insert(words.end(), ends.begin(), ends.end());
  return words;
}

std::vector<std::string_view> operatorWords() {
  std::vector<std::string_view> words;
  for (int kind = 0; kind <= static_cast<int>(OperatorKind::Coder); ++kind) {
    words.push_back(name(static_cast<OperatorKind>(kind)));
  }
  return words;
}

}  // namespace

FilterVocabulary candidateFilterKeys() {
  static const std::vector<FilterKey> kKeys = {
      {"status", FilterKind::Choice, "what became of it", candidateStatuses()},
      {"speedup", FilterKind::Number, "against the fastest baseline: speedup>1.5"},
      {"time", FilterKind::Time, "median time of a call: time<30us"},
      {"cell", FilterKind::Cell, "behaviour cell, or some of its axes: cell:A2B1C0, cell:A3"},
      {"operator", FilterKind::Proposer, "what made it", operatorWords()},
      {"island", FilterKind::Integer, "island of the search: island:2"},
      {"error", FilterKind::Number, "relative L2 error against float64: error<1e-6"},
      {"registers", FilterKind::Integer, "registers of a thread: registers<64"},
      {"found", FilterKind::Duration, "search time when it was evaluated: found<5min"},
      {"parent", FilterKind::Integer, "made from this candidate: parent:17"},
      {"id", FilterKind::Integer, "number in the record: id:100..200"},
      {"run", FilterKind::Integer, "number of its run: run:3"},
      {"tag", FilterKind::Name, "has this tag: tag:promising"},
      {"note", FilterKind::Text, "its note contains this: note:\"bank conflict\""},
      {"pinned", FilterKind::Flag, "pinned"},
      {"tagged", FilterKind::Flag, "has a tag"},
      {"noted", FilterKind::Flag, "has a note"},
      {"failed", FilterKind::Flag, "evaluated, and neither correct nor a duplicate"},
      {"first", FilterKind::Flag, "has no parents"},
      {"algebraic", FilterKind::Flag, "equal to the task by algebra, and rounds in another way"},
      {"best", FilterKind::Flag, "the best of its cell on its island"},
      {"trashed", FilterKind::Flag, "in the trash, which is left out otherwise"},
  };
  return kKeys;
}

FilterVocabulary runFilterKeys() {
  static const std::vector<FilterKey> kKeys = {
      {"task", FilterKind::Text, "name of the task contains this: task:softmax"},
      {"device", FilterKind::Text, "name of the device contains this: device:H200"},
      {"target", FilterKind::Choice, "what was compiled for", {"cpu", "cuda"}},
      {"status",
       FilterKind::Choice,
       "how the run stands",
       {"running", "paused", "finished", "stopped", "failed"},
       {"interrupted"}},
      {"speedup", FilterKind::Number, "of its best candidate: speedup>1.5"},
      {"time", FilterKind::Time, "of its best candidate: time<30us"},
      {"evaluations", FilterKind::Integer, "candidates that were evaluated: evaluations>1000"},
      {"correct", FilterKind::Integer, "candidates that were correct: correct:0"},
      {"duration", FilterKind::Duration, "search time: duration>5min"},
      {"run", FilterKind::Integer, "number in the record: run:3"},
  };
  return kKeys;
}

}  // namespace swage::domain
