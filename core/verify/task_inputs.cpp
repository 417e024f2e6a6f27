// SPDX-License-Identifier: Apache-2.0
#include "core/verify/task_inputs.h"

#include <ATen/Context.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"
#include "core/wire/safetensors.h"

namespace swage::verify {
namespace {

Error badTask(std::string message) {
  return Error(ErrorKind::InvalidInput, std::move(message), "Import the task again.");
}

std::string describe(const domain::TensorType& type) {
  return fmt::format("{}[{}]", domain::name(type.dtype), fmt::join(type.shape, ", "));
}

// Two inputs may be views of one tensor, and a view may not start where its storage does.
bool isItsOwn(const at::Tensor& made, const domain::TensorType& type) {
  return made.use_count() == 1 && made.storage().use_count() == 1 && made.storage_offset() == 0 &&
         made.storage().nbytes() == made.nbytes() && hasStrides(made, type);
}

Result<at::Tensor> loadWeight(const domain::GraphInput& input, const domain::TensorType& type,
                              const wire::SafetensorsFile& file, c10::Device device) {
  const auto* stored = file.find(input.name);
  if (stored == nullptr) {
    return badTask(fmt::format("the weights have no tensor '{}'", input.name));
  }
  if (stored->type.dtype != type.dtype || stored->type.shape != type.shape) {
    return badTask(fmt::format("the weight '{}' is {}, but the graph takes {}", input.name, describe(stored->type),
                               describe(type)));
  }
  at::Tensor weight;
  const auto failed = attempt([&] {
    // from_blob wants a mutable pointer; the mapping is only read.
    void* bytes = const_cast<std::byte*>(stored->bytes.data());
    const at::Tensor mapped =
        at::from_blob(bytes, type.shape, at::TensorOptions().dtype(toTorch(type.dtype)).device(at::kCPU));
    weight = emptyTensor(type, device);
    copyInto(weight, mapped);
  });
  if (failed) {
    return Error(ErrorKind::InvalidInput, fmt::format("cannot load the weight '{}': {}", input.name, failed->message));
  }
  return weight;
}

Result<std::vector<at::Tensor>> loadWeights(const domain::Graph& graph, const std::string& path, c10::Device device) {
  std::vector<at::Tensor> weights(graph.inputs.size());
  const auto isWeight = [](const domain::GraphInput& input) { return input.kind != domain::InputKind::User; };
  if (std::none_of(graph.inputs.begin(), graph.inputs.end(), isWeight)) {
    return weights;
  }
  SWAGE_TRY_ASSIGN(const wire::SafetensorsFile file, wire::SafetensorsFile::open(path));
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (isWeight(graph.inputs[i])) {
      SWAGE_TRY_ASSIGN(weights[i], loadWeight(graph.inputs[i], graph.type(graph.inputs[i].value), file, device));
    }
  }
  return weights;
}

}  // namespace

Result<TaskInputs> TaskInputs::load(const domain::Task& task, const std::string& weightsPath, c10::Device device) {
  const auto userInputs =
      std::count_if(task.graph.inputs.begin(), task.graph.inputs.end(),
                    [](const domain::GraphInput& input) { return input.kind == domain::InputKind::User; });
  if (static_cast<std::size_t>(userInputs) != task.inputGenerator.outputs.size() ||
      !task.inputGenerator.inputs.empty()) {
    return badTask(fmt::format("the graph takes {} inputs, its generator makes {}", userInputs,
                               task.inputGenerator.outputs.size()));
  }
  auto generator = GraphProgram::bind(task.inputGenerator, GraphMode::Eager, CallMode{device, std::nullopt});
  if (!generator) {
    return std::move(generator).error().withContext("the input generator");
  }
  TaskInputs inputs(task.graph, std::move(*generator));
  SWAGE_TRY_ASSIGN(inputs.m_fixed, loadWeights(task.graph, weightsPath, device));
  return inputs;
}

std::vector<at::Tensor> TaskInputs::draw(std::uint64_t seed) {
  at::manual_seed(seed);
  std::vector<at::Tensor> drawn = m_generator.run({}, RunningStats::Fresh, Freed::AsTheyAre);
  std::vector<at::Tensor> inputs = m_fixed;
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) {
      continue;
    }
    const domain::TensorType& type = m_graph.type(m_graph.inputs[i].value);
    at::Tensor made = std::exchange(drawn[next++], {});
    TORCH_CHECK(hasShapeAndType(made, type), "the generator makes another tensor for input ", i, " than ",
                describe(type));
    if (isItsOwn(made, type)) {
      inputs[i] = std::move(made);
    } else {
      inputs[i] = emptyTensor(type, made.device());
      copyInto(inputs[i], made);
    }
  }
  return inputs;
}

std::vector<at::Tensor> TaskInputs::weights() const {
  std::vector<at::Tensor> weights;
  std::copy_if(m_fixed.begin(), m_fixed.end(), std::back_inserter(weights),
               [](const at::Tensor& tensor) { return tensor.defined(); });
  return weights;
}

WorkingInputs::WorkingInputs(const domain::Graph& graph, device::Device& device, c10::Device where,
                             std::span<const WeightChunk> chunks)
    : m_tensors(graph.inputs.size()) {
  for (const WeightChunk& chunk : chunks) {
    const domain::ScalarType dtype = graph.type(graph.inputs[chunk.places.front().input].value).dtype;
    const Guarded& buffer =
        m_buffers.emplace_back(domain::contiguousTensor(dtype, {chunk.elements}), device, where, kPoison);
    // cuDNN looks for the weights from the start of their storage on, which is that of the block with the red zones.
    const at::Tensor& whole =
        m_chunks.emplace_back(at::from_blob(buffer.tensor().data_ptr(), {chunk.elements}, buffer.tensor().options()));
    for (const WeightChunk::Place& place : chunk.places) {
      const domain::TensorType& type = graph.type(graph.inputs[place.input].value);
      m_tensors[place.input] = whole.as_strided(type.shape, type.strides, place.offset);
    }
  }
  for (std::size_t i = 0; i < m_tensors.size(); ++i) {
    if (!m_tensors[i].defined()) {
      const domain::TensorType& type = graph.type(graph.inputs[i].value);
      m_tensors[i] = m_buffers.emplace_back(type, device, where, kPoison).tensor();
    }
  }
}

void WorkingInputs::fill(std::span<const at::Tensor> pristine, std::size_t check) {
  m_check = check;
  for (const at::Tensor& chunk : m_chunks) {
    chunk.zero_();  // where biases would be, if there were some
  }
  for (std::size_t i = 0; i < m_tensors.size(); ++i) {
    copyInto(m_tensors[i], pristine[i]);
  }
}

void WorkingInputs::repairRedZones() const {
  for (const Guarded& buffer : m_buffers) {
    buffer.repairRedZones();
  }
}

}  // namespace swage::verify
