// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/cuda_batch.h"

namespace swage::synth::cuda {
namespace {

std::string positionOf(const Batch& batch) {
  return fmt::format("{} {} {} * {}", batch.first, batch.backwards ? "-" : "+", batch.counter, batch.distance);
}

// Backwards the last positions lie before zero.
std::string_view typeOf(const Batch& batch, std::string_view index) {
  constexpr std::string_view kUnsigned = "unsigned ";
  return batch.backwards && index.starts_with(kUnsigned) ? index.substr(kUnsigned.size()) : index;
}

}  // namespace

void forEach(KernelWriter& writer, const Batch& batch, Position position, const std::function<void()>& body,
             const std::function<void()>& after) {
  Code& code = writer.code();
  KernelWriter::Scope outside = writer.scope();
  std::string name = batch.first;
  if (batch.count > 1) {
    code.pragma("#pragma unroll");
    code.open("for (int {0} = 0; {0} < {1}; ++{0})", batch.counter, batch.count);
    name = positionOf(batch);
    if (position == Position::Used) {
      code.line("const {} {} = {};", typeOf(batch, writer.index()), batch.position, name);
      name = batch.position;
    }
  }
  if (!batch.end.empty()) {
    code.open("if ({} {} {})", name, batch.backwards ? ">=" : "<", batch.end);
  }
  if (position == Position::Used && !batch.axes.empty()) {
    writer.decode(name, batch.axes);
  }
  body();
  if (!batch.end.empty()) {
    code.close();
  }
  if (after) {
    after();
  }
  if (batch.count > 1) {
    code.close();
  } else if (batch.end.empty() || after) {
    outside.taken = writer.scope().taken;  // no block ends here
  }
  writer.leave(std::move(outside));
}

}  // namespace swage::synth::cuda
