// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/cell.h"
#include "core/domain/device_info.h"
#include "core/domain/launch_plan.h"
#include "core/patterns/catalogue.h"
#include "core/synth/example_graphs.h"
#include "core/synth/region.h"

// How the nests of a region are walked on a device: one object for each pattern of the catalogue.
namespace swage::synth {

using Parameters = std::map<std::string, std::int64_t>;

// What the model calls its values, for names and comments.
struct ModelText {
  std::map<domain::ValueId, std::string> names;     // of tensors
  std::map<domain::ValueId, std::string> assigned;  // names that the model's statements give to what they compute
  std::map<domain::ValueId, std::string> lines;     // "model.py:14: return x * scale"
  std::set<std::string> functions;                  // what kernels may call, so that no value is called so
};

// A pattern with numbers for its parameters, made for one region on one device. Refers to what its maker owns.
struct Instance {
  const patterns::Pattern& pattern;
  const Region& region;
  const Parameters& parameters;
  const domain::DeviceInfo& device;
  const ModelText* model = nullptr;  // may be missing

  // Of a value: what the model calls it, and the line that makes it; empty where it does not.
  [[nodiscard]] std::string nameOf(domain::ValueId value) const;
  [[nodiscard]] std::string lineOf(domain::ValueId value) const;
  // What a statement of the model calls the value; empty where none does.
  [[nodiscard]] std::string assignedNameOf(domain::ValueId value) const;
  // As it lies in memory. The region must address it.
  [[nodiscard]] domain::ScalarType typeOf(domain::ValueId value) const;
  [[nodiscard]] std::int64_t value(std::string_view parameter, std::int64_t otherwise = 0) const;
};

// A tensor map among the arguments of a launch.
struct LaunchMap {
  domain::TensorMap map;  // of a buffer of the region,
  int scratch = -1;       // or of this scratch buffer, whose number in the plan the caller fills in
};

// What a region needs beside its own buffers.
struct Launch {
  domain::KernelStep step;                  // arguments filled in by the caller, see KernelText
  std::vector<domain::KernelStep> more;     // launches that follow: a strategy with passes has its main one here
  std::vector<domain::TensorType> scratch;  // buffers of ours
  bool zeroScratch = false;                 // scratch must be zero before the first launch
  std::vector<LaunchMap> maps;
  std::vector<std::int64_t> numbers;  // arguments that differ where the text is the same
  Parameters constants;               // numbers the source needs that follow from geometry
};

// One kernel argument; the order of the buffers is that of the arguments.
struct KernelBuffer {
  domain::ValueId value;
  bool output = false;
  friend bool operator==(const KernelBuffer&, const KernelBuffer&) = default;
};

struct LaunchArgument {
  enum class Kind : std::uint8_t { Buffer, Scratch, Map, Number };
  Kind kind = Kind::Buffer;
  std::size_t index = 0;  // into KernelText::buffers, Launch::scratch, Launch::maps or Launch::numbers
};

struct KernelText {
  std::string source;                 // the kernels, without what all kernels of the language share
  std::vector<KernelBuffer> buffers;  // inputs, then outputs
  // Of each launch, in order. A launch without a list here takes all buffers, then all scratch, then all maps, then
  // all numbers.
  std::vector<std::vector<LaunchArgument>> arguments = {};
};

// Stateless, so any thread may use it.
class Strategy {
 public:
  Strategy(domain::Language language, std::string id) : m_language(language), m_id(std::move(id)) {}
  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  [[nodiscard]] domain::Language language() const { return m_language; }
  // The folder of the pattern: patterns/<folder of the language>/<id>.
  [[nodiscard]] const std::string& id() const { return m_id; }

  // Whether the instance can be computed on its device; says why not.
  [[nodiscard]] Result<> check(const Instance& instance) const;
  // The same of a region that it is known to accept, for those who ask about thousands of parameters of one region.
  [[nodiscard]] Result<> checkAccepted(const Instance& instance) const;
  // Geometry and scratch of the launch. Call only after check.
  [[nodiscard]] virtual Launch launch(const Instance& instance, const std::string& entry) const = 0;
  // The kernel as text, for a launch that this strategy made.
  [[nodiscard]] virtual Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const = 0;
  // The cell that it will probably compile to, if it is the only kernel of a program.
  [[nodiscard]] virtual domain::Cell aims(const Instance& instance) const;
  // Whether it computes regions of this kind at all, whatever the parameters.
  [[nodiscard]] virtual bool accepts(const Region& region) const = 0;
  // About how long all launches of the instance take together, in seconds (cost_model.h). No value: nobody can say.
  // Call only after check.
  [[nodiscard]] virtual std::optional<double> estimate(const Instance& instance) const;
  // Gives parameters that make no difference to this instance the least of the values that do what theirs does, so that
  // nothing is compiled twice. Call only after check, which holds afterwards, too.
  virtual void normalise(const Instance& instance, Parameters& parameters) const;
  // Whether it is made for convolutions, also for those whose window is a single position.
  [[nodiscard]] virtual bool isForConvolutions() const { return false; }
  // What shows the pattern to a person: a graph that it computes with its standard parameters. Softmax of rows, where a
  // strategy does not say.
  [[nodiscard]] virtual Example example() const { return examples::rows({1024, 4096}); }
  // Others are to be tried first where they fit: those with a lower number. 0: it is made for what it accepts.
  [[nodiscard]] virtual int fallbackOrder() const { return 0; }

 protected:
  // What check() asks beyond parameters that the pattern has.
  [[nodiscard]] virtual Result<> fits(const Instance& instance) const = 0;
  [[nodiscard]] Error unfit(std::string_view why) const;

 private:
  domain::Language m_language;
  std::string m_id;
};

// The strategies that programs are made with. Filled once, then only read.
class StrategyTable {
 public:
  // Those of this build, in no particular order.
  [[nodiscard]] static const StrategyTable& builtIn();

  void add(std::unique_ptr<Strategy> strategy);
  // Null when this build has none for the pattern.
  [[nodiscard]] const Strategy* find(domain::Language language, std::string_view id) const;
  // Whether some strategy of the language computes regions of this kind.
  [[nodiscard]] bool accepts(domain::Language language, const Region& region) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Strategy>>& all() const { return m_strategies; }

 private:
  std::vector<std::unique_ptr<Strategy>> m_strategies;
};

}  // namespace swage::synth
