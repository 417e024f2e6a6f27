// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/wire/messages.h"

// Which inputs a candidate has to be right on, and when.
//
// - Every candidate: the seeds of the task's own generator, before it is timed. Most wrong candidates end here. Where a
//   task is so large that not all of their results are kept (see below), those that are, and one for each working set;
//   where a check takes much longer than a call, the latter alone. Contenders get to the others first of all.
// - A contender, which screening let through and which is timed in full: inputs that are hard to compute with, and,
//   where it is asked for, the held-back seeds, which no earlier check used. In an order that is not that of the seeds,
//   between calls on inputs it has seen, so that a result which depends on the call before shows. In the end once more
//   with most of the device taken away (Device::callConfined): on a device that is free all blocks of a small grid run
//   at once, and a store that should not be there, or that nobody waits for, may come first or last in every call. On a
//   CPU also with one thread and with one more than usual, as an export may be called. Only contenders can win, and
//   there are few of them: what is checked here may cost more than what every candidate pays. A request may say how
//   long it may take (Evaluate::checkSeconds): a search then gets on, and whoever could win is checked further when it
//   is measured again, for a minute at most. The evaluation names the classes of inputs that it was checked on, and an
//   export is checked on all. Who is far behind the best of its search is no contender (Evaluate::contenderNs).
// - Where a request asks for no timing, all of it.
//
// The inputs and results of as many checks as fit into memory_plan.h's share stay for the next candidate, in the order
// of planChecks(). Of the others, and of all of a large task, stay digests (digest.h), with which such a check begins:
// they let a candidate pass or, at the least doubt, the results are compared element by element. What a digest cannot
// tell, a contender is asked once in full: of the output of a timed call, or, where nothing is timed, of its first.
// A check is admitted, which runs eager and the reference on its inputs, when the task is loaded or, where that takes
// long, when the first contender gets so far.
namespace swage::verify {

enum class InputClass : unsigned char {
  Task,
  Weights,     // other weights than those the module came with: zeros and ones hide what a kernel leaves out
  Offset,      // all values close to one large one: a variance as a difference of two sums is lost
  Cancelling,  // huge values of alternating sign, of whose sum little is left
  Large,
  Small,  // where an epsilon is larger than the values
  Equal,
  Denormal,
  MixedSign,
  Negative,  // all values below a negative one: a maximum that starts at 0, an exponential that underflows
  Wide,      // beyond where the task draws, within where functions still bend: an approximation for small values only
  Uneven,    // the ends of rows and columns dominate: a sum that leaves them out, or looks at a part only
  Masks,     // booleans that the task draws all alike, drawn at random
  Ties,      // few different values, zeros of both signs among them: what skips zeros, or takes > for >=
  Rows,      // each row at another scale: what takes one scale for all
  Nan,       // a few of them: they have to arrive where they do with PyTorch
  Infinite,  // the same of infinities, where there are no products
  HeldBack,
};
inline constexpr std::size_t kInputClasses = 18;
// As domain::InputErrors::inputs has it.
[[nodiscard]] std::string_view name(InputClass inputs);
// Derived from a draw of the task's generator, which never makes such values itself.
[[nodiscard]] bool isHard(InputClass inputs);

// Whether there are inputs that are no numbers: then only these are followed, and no error is measured.
[[nodiscard]] bool isSpecial(InputClass inputs);

// Whether kernels on a GPU are not checked with them: that no honest one is turned down has been seen on CPUs only.
[[nodiscard]] bool isForCpusOnly(InputClass inputs);

struct Check {
  InputClass inputs = InputClass::Task;
  std::uint64_t seed = 0;  // its inputs are drawn with
};

// Those of the task first, then the hard ones in the order of what they find, the held-back ones last.
[[nodiscard]] std::vector<Check> planChecks(const wire::LoadTask& request);

}  // namespace swage::verify
