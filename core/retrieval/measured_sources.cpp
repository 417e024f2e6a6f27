// SPDX-License-Identifier: Apache-2.0
// Facts of devices, and what searches on this machine have found.
#include <algorithm>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/base/files.h"
#include "core/domain/record/winner.h"
#include "core/retrieval/sources.h"
#include "core/store/record.h"

namespace swage::retrieval {
namespace {

namespace fs = std::filesystem;
using domain::PatternEntry;
using domain::PatternOrigin;

constexpr std::size_t kMostOfSource = 4000;

std::string valueText(const toml::node& node) {
  if (const auto number = node.value_exact<std::int64_t>()) {
    return fmt::format("{}", *number);
  }
  if (const auto number = node.value_exact<double>()) {
    return fmt::format("{:g}", *number);
  }
  return node.value_or(std::string());
}

// In the words in which a person asks.
std::string factText(std::string_view name, const std::string& value) {
  const auto of = [&](std::string_view what, std::string_view unit) {
    return fmt::format("{}: {} {}. ", what, value, unit);
  };
  return name == "multiprocessors"       ? of("streaming multiprocessors (SMs)", "")
         : name == "memory_gb"           ? of("device memory size", "GB")
         : name == "memory_type"         ? of("memory type", "")
         : name == "memory_gb_per_s"     ? of("memory bandwidth", "GB/s")
         : name == "l2_mb"               ? of("L2 cache", "MB")
         : name == "shared_kb_per_block" ? of("shared memory of a block", "KB")
         : name == "fp32_tflops"         ? of("peak float32 rate", "TFLOP/s")
         : name == "tf32_tensor_tflops"  ? of("peak TF32 rate of tensor cores", "TFLOP/s")
         : name == "fp16_tensor_tflops"  ? of("peak float16 rate of tensor cores", "TFLOP/s")
         : name == "bf16_tensor_tflops"  ? of("peak bfloat16 and float16 rate of tensor cores", "TFLOP/s")
         : name == "fp8_tensor_tflops"   ? of("peak FP8 rate of tensor cores", "TFLOP/s")
         : name == "power_w"             ? of("power", "W")
                                         : of(name, "");
}

Result<std::vector<PatternEntry>> readDataSheet(const fs::path& file) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(file, std::size_t{1} << 20U));
  try {
    const toml::table root = toml::parse(text, file.string());
    const std::string architecture = root["architecture"].value_or(std::string());
    PatternEntry entry;
    entry.key = "data sheet/" + file.stem().string();
    entry.origin = PatternOrigin::DataSheet;
    entry.title = root["name"].value_or(file.stem().string());
    entry.summary =
        fmt::format("Data sheet of a GPU: {} generation, {}. From: {}.", root["generation"].value_or(std::string()),
                    architecture, root["source"].value_or(std::string()));
    entry.place = file.string();
    entry.architectures = {architecture, "cuda"};
    if (const toml::table* facts = root.get_as<toml::table>("facts")) {
      for (const auto& [key, node] : *facts) {
        entry.body += factText(key.str(), valueText(node));
      }
    }
    return std::vector{entry};
  } catch (const toml::parse_error& error) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("'{}', line {}: {}", file.string(), error.source().begin.line, error.description()));
  }
}

// "aten.sum.dim_IntList" is "sum".
std::string operatorOf(std::string_view node) {
  const std::size_t begin = node.find('.');
  std::string_view name = begin == std::string_view::npos ? node : node.substr(begin + 1);
  name = name.substr(0, name.find('.'));
  while (name.starts_with('_')) {
    name.remove_prefix(1);
  }
  return std::string(name);
}

PatternEntry winnerEntry(const fs::path& project, const store::RunRow& run, const domain::Task& task,
                         const store::CandidateRecord& candidate) {
  PatternEntry entry;
  entry.key = fmt::format("record/{}/{}", project.string(), candidate.id.value());
  entry.origin = PatternOrigin::Record;
  entry.title = fmt::format("{} on {}: candidate {}", run.taskName, run.deviceName, candidate.id.value());
  std::set<std::string> operators;
  std::string shapes;
  for (const domain::Node& node : task.graph.nodes) {
    operators.insert(operatorOf(node.op));
  }
  for (const domain::GraphInput& input : task.graph.inputs) {
    const domain::TensorType& type = task.graph.type(input.value);
    shapes += fmt::format("{}[{}] ", domain::name(type.dtype), fmt::join(type.shape, ", "));
  }
  entry.summary = fmt::format("Won a search on this machine, {:.2f} times as fast as {}. Inputs {}",
                              run.bestSpeedup.value, run.baselineMode, shapes);
  if (candidate.cell) {
    entry.summary +=
        fmt::format(". Cell {}: {}, {}, {}", candidate.cell->name(), domain::describe(candidate.cell->movement),
                    domain::describe(candidate.cell->arithmetic), domain::describe(candidate.cell->decomposition));
  }
  if (candidate.genome) {
    for (const domain::RegionGene& region : candidate.genome->regions) {
      entry.summary += fmt::format(". Pattern {}", region.pattern);
    }
  }
  entry.body = candidate.program.source.substr(0, kMostOfSource);
  entry.place = fmt::format("{}, candidate {}", project.string(), candidate.id.value());
  entry.operators.assign(operators.begin(), operators.end());
  entry.types = {
      std::string(domain::name(task.graph.inputs.empty() ? domain::ScalarType::Float32
                                                         : task.graph.type(task.graph.inputs.front().value).dtype))};
  entry.architectures = {run.device.architecture, run.device.kind == domain::DeviceKind::Cpu ? "cpu" : "cuda"};
  return entry;
}

Result<std::vector<PatternEntry>> readWinners(const fs::path& project) {
  std::vector<PatternEntry> entries;
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const std::vector<store::RunRow> runs, record.runs());
  for (const store::RunRow& run : runs) {
    const domain::CandidateId winner = domain::winnerOf(run);
    if (run.status != store::RunStatus::Finished || !winner.isValid() || winner == run.own) {
      continue;
    }
    SWAGE_TRY_ASSIGN(const store::CandidateRecord candidate, record.candidate(winner));
    SWAGE_TRY_ASSIGN(const domain::Task task, record.task(run.taskId));
    entries.push_back(winnerEntry(project, run, task, candidate));
  }
  return entries;
}

std::string stampIfReadable(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  const auto time = fs::last_write_time(file, failed).time_since_epoch().count();
  return failed ? std::string() : fmt::format("{}:{}", size, time);
}

}  // namespace

std::vector<Unit> dataSheetUnits(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().extension() == ".toml") {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<Unit> units;
  for (const fs::path& file : files) {
    units.push_back({file.string(), stampIfReadable(file), [file] { return readDataSheet(file); }});
  }
  return units;
}

std::vector<Unit> recordUnits(const std::vector<fs::path>& projects) {
  std::vector<Unit> units;
  for (const fs::path& project : projects) {
    const fs::path file = project / "runs.sqlite";
    if (const std::string stamp = stampIfReadable(file); !stamp.empty()) {
      units.push_back({"record " + project.string(), stamp + ' ' + stampIfReadable(file.string() + "-wal"),
                       [project] { return readWinners(project); }});
    }
  }
  return units;
}

}  // namespace swage::retrieval
