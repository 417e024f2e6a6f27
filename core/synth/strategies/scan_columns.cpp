// SPDX-License-Identifier: Apache-2.0
// One sequence to a thread of a GPU, whatever its axis: many short ones.
#include <algorithm>

#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/scan.h"
#include "core/synth/strategies/streaming.h"

namespace swage::synth::cuda {
namespace {

class ScanColumns final : public Strategy {
 public:
  ScanColumns() : Strategy(domain::Language::CudaCpp, "scan_columns") {}

  [[nodiscard]] Example example() const override { return examples::cumulativeSum({1024, 4096}, 0); }
  [[nodiscard]] bool accepts(const Region& region) const override { return isScan(region); }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const std::int64_t threads = instance.value("threads", 1);
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = narrow(threads);
    launch.step.grid.x = narrow(divideUp(sequencesOf(instance.region), threads));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Region& region = instance.region;
    KernelWriter writer(instance, Dialect::of(language()),
                        {"sequence", "position", "running", "lost", "next", "added", "total"});
    Code& code = writer.code();
    const std::int64_t sequences = sequencesOf(region);
    const std::int64_t threads = instance.value("threads", 1);
    code.comment(fmt::format("One of {} sequences of {} to a thread.", sequences, scanLength(region)));
    openCudaKernel(writer, launch.step.entry, threads);
    code.line("const {0} sequence = {1}blockIdx.x * {2} + threadIdx.x;", writer.index(),
              writer.index() == "int" ? "" : "(long long)", threads);
    if (sequences % threads != 0) {
      code.open("if (sequence >= {})", sequences);
      code.line("return;");
      code.close();
    }
    if (const std::vector<std::size_t> batch = axesOf(region, AxisRole::Batch); !batch.empty()) {
      writer.decode("sequence", batch);
    }
    writeSequence(writer, region);
    code.close();
    return writer.finish();
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const Region& region = instance.region;
    // Neighbours that do not lie side by side share nothing of what memory gives at once, unless a cache keeps it.
    const bool isApart = scanAxis(region) + 1 == region.axes.size();
    Stream stream;
    stream.blocks = divideUp(sequencesOf(region), instance.value("threads", 1));
    stream.threads = instance.value("threads", 1);
    stream.bytes = 16;  // of a loop that the compiler unrolls
    stream.moved = bytesMoved(region) * (isApart ? 4.0 : 1.0);
    return secondsOfStream(instance.device, stream);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    if (sequencesOf(instance.region) > kMaxGrid) {
      return unfit("there are more sequences than threads of a grid");
    }
    return {};
  }

  // A sum keeps beside it what rounding took from it (Knuth 1969).
  void writeSequence(KernelWriter& writer, const Region& region) const {
    Code& code = writer.code();
    const int input = scanOf(region).input;
    const Compute compute = region.prims[static_cast<std::size_t>(input)].type;
    const Joining join(writer.dialect(), scanOf(region).kind, compute);
    const bool isCompensated = scanOf(region).kind == FoldKind::Sum && compute != Compute::I64;
    code.line("{} running = {};", join.type(), join.neutral());
    if (isCompensated) {
      code.line("{} lost = {};", join.type(), join.neutral());
    }
    code.open("for ({0} position = 0; position < {1}; ++position)", writer.index(), scanLength(region));
    writer.bindAxis(scanAxis(region), "position");
    writer.compute({input});
    code.line("const {} next = {};", join.type(), writer.value(input).text);
    if (isCompensated) {
      code.line("const {} total = running + next;", join.type());
      code.line("const {} added = total - running;", join.type());
      code.line("lost += (running - (total - added)) + (next - added);");
      code.line("running = total;");
    } else {
      code.line("running = {};", join("running", "next"));
    }
    bindRunning(writer, region, isCompensated ? "(lost == lost ? running + lost : running)" : "running");
    writer.compute(storedPrims(region.elementStores));
    writer.store(region.elementStores);
    code.close();
  }
};

}  // namespace

void addScanColumns(StrategyTable& table) {
  table.add(std::make_unique<ScanColumns>());
}

}  // namespace swage::synth::cuda
