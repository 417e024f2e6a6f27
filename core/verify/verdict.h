// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/domain/evaluation.h"
#include "core/verify/compare.h"
#include "core/verify/contract.h"
#include "core/verify/reference.h"

namespace swage::verify {

// Holds a candidate's outputs against what was expected, check after check, and keeps the largest errors of each class
// of inputs. Judging may throw c10::Error.
class Verdict {
  // One output of one check.
  struct Case {
    std::size_t output = 0;
    domain::TensorType type;
    at::Tensor actual;  // flat
    Sealed reference;
    Sealed eager;  // of nothing where only the reference judges
    double referenceL2 = 0.0;
    InputClass inputs = InputClass::Task;
    std::uint8_t poison = 0;
    std::optional<DistancesUnderWay> distances;  // where it is judged by them
  };
  // One output of one check, of which there are sums.
  struct Sums {
    std::size_t output = 0;
    InputClass inputs = InputClass::Task;
    std::int64_t elements = 0;
    bool isFloating = true;
    double referenceL2 = 0.0;
    Answers::Range l2;       // of the differences of the sums
    Answers::Range maximum;  // the largest of them
    Answers::Range differs;  // of integers: whether a sum is neither that of the reference nor that of eager
  };

 public:
  // Whether a result has to be near eager's within KernelBench's tolerance, or may be nearer to the reference instead:
  // where eager rounds to TF32, a result that is more exact is far from it.
  enum class Nearness : unsigned char { Eager, EagerOrReference };
  Verdict(const Reference& reference, Nearness nearness);

  // What is judged, and what the device has been asked about it.
  class Begun {
    friend class Verdict;
    std::vector<Case> m_cases;
    std::optional<domain::Wrong> m_misshapen;
  };
  // `poison` is what the buffers held before. Does not wait for the device.
  [[nodiscard]] Begun begin(std::span<const at::Tensor> outputs, const Reference::Expected& expected, InputClass inputs,
                            std::uint8_t poison, Answers& answers) const;
  // When the answers are there: the first output that breaks the contract (see contract.h), or no value.
  [[nodiscard]] std::optional<domain::Wrong> conclude(const Begun& begun, const Answers& answers);
  // Both, with the wait between them.
  [[nodiscard]] std::optional<domain::Wrong> judge(std::span<const at::Tensor> outputs,
                                                   const Reference::Expected& expected, InputClass inputs,
                                                   std::uint8_t poison);

  // The same by what is left of the results (digest.h), for less.
  class BegunDigests {
    friend class Verdict;
    std::vector<Sums> m_sums;
    std::vector<Case> m_whole;  // outputs of a few elements
    bool m_isMisshapen = false;
  };
  [[nodiscard]] BegunDigests begin(std::span<const at::Tensor> outputs, const Reference::Digests& expected,
                                   InputClass inputs, std::uint8_t poison, Answers& answers) const;
  // Whether the outputs are surely within the contract, but for KernelBench's tolerance, which no sum can tell. Where
  // not, the results themselves have to be computed again and looked at.
  [[nodiscard]] bool passes(const BegunDigests& begun, const Answers& answers);

  // One more check with such inputs; a repetition is none.
  void count(InputClass inputs) { ++m_checks[static_cast<std::size_t>(inputs)]; }

  // The worst on the task's own inputs, one for each output. Of an output of which only sums were looked at, the
  // largest error is no less than what is said here as a rule.
  [[nodiscard]] std::vector<domain::OutputError> errors() const { return errors(InputClass::Task); }
  // Of every class that was checked. An output of which nothing can be said there (Reference::OutputScale) is missing.
  [[nodiscard]] std::vector<domain::InputErrors> byInputs() const;
  [[nodiscard]] domain::AccuracyClass accuracy() const;

 private:
  [[nodiscard]] std::optional<domain::Wrong> checkShape(const at::Tensor& output, std::size_t index,
                                                        c10::Device device) const;
  // Of an output on which no limit follows from eager.
  [[nodiscard]] std::optional<domain::Wrong> judgeNotFinite(const Case& which) const;
  [[nodiscard]] std::optional<domain::Wrong> judgeFloating(const Case& which, const Answers& answers);
  // With the first elements that have the fault; one that has it is `element`.
  [[nodiscard]] domain::Wrong wrongAt(const Case& which, std::int64_t element, std::string rule, std::string detail,
                                      const Fault& fault) const;

  struct Question {
    std::size_t output = 0;
    InputClass inputs = InputClass::Task;
    std::uint8_t poison = 0;
  };
  [[nodiscard]] Case caseOf(const Question& question, const at::Tensor& output, const Sealed& reference,
                            const Sealed& eager, double referenceL2, Answers& answers) const;
  [[nodiscard]] std::optional<domain::Wrong> judge(const Case& which, const Answers& answers);
  [[nodiscard]] ErrorLimit limitOf(InputClass inputs, std::size_t output) const;
  [[nodiscard]] Sums sumsOf(const Question& question, const at::Tensor& output, const Reference::Digests& expected,
                            Answers& answers) const;
  [[nodiscard]] bool passes(const Sums& which, const Answers& answers);
  [[nodiscard]] std::optional<domain::Wrong> judgeInteger(const Case& which) const;
  [[nodiscard]] std::optional<domain::Wrong> judgeError(const Case& which, const Difference& found);
  [[nodiscard]] std::vector<domain::OutputError> errors(InputClass inputs) const;

  [[nodiscard]] static double relativeTo(const Case& which, double l2);  // to the size of the reference
  // Whether the result is no less exact than eager's.
  [[nodiscard]] bool isAsExactAsEager(const Case& which, const Difference& found) const;

  const Reference& m_reference;
  Nearness m_nearness;
  std::array<std::vector<domain::OutputError>, kInputClasses> m_errors;
  // By class and output: the largest difference of two sums. As a rule more than that of two elements.
  std::array<std::vector<double>, kInputClasses> m_largestOfSums;
  std::array<int, kInputClasses> m_checks{};
};

}  // namespace swage::verify
