// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/domain/task.h"
#include "core/verify/graph_program.h"
#include "core/verify/guarded.h"
#include "core/verify/recurrent_weights.h"

namespace swage::verify {

// Where the inputs of a task come from: weights from a file, user inputs drawn for each seed on the device itself.
class TaskInputs {
 public:
  // `graph` must have no defect. Fails when the file lacks a weight or has it in another shape or type.
  [[nodiscard]] static Result<TaskInputs> load(const domain::Task& task, const std::string& weightsPath,
                                               c10::Device device);

  // All graph inputs, in order, for one seed; the weights are shared between calls. May throw c10::Error, also when
  // the generator does not make what the graph takes.
  [[nodiscard]] std::vector<at::Tensor> draw(std::uint64_t seed);

  [[nodiscard]] std::vector<at::Tensor> weights() const;
  [[nodiscard]] const domain::Graph& graph() const { return m_graph; }

 private:
  TaskInputs(const domain::Graph& graph, GraphProgram generator) : m_graph(graph), m_generator(std::move(generator)) {}

  domain::Graph m_graph;
  GraphProgram m_generator;
  std::vector<at::Tensor> m_fixed;  // one per graph input; undefined for user inputs
};

// Copies of one check's inputs that candidates and eager get to see: of the declared strides, between red zones, at
// addresses of their own. The weights of a chunk are together between two red zones, in one storage of theirs.
class WorkingInputs {
 public:
  WorkingInputs(const domain::Graph& graph, device::Device& device, c10::Device where,
                std::span<const WeightChunk> chunks = {});

  void fill(std::span<const at::Tensor> pristine, std::size_t check);
  // What the candidate before may have done to them.
  void repairRedZones() const;
  [[nodiscard]] const std::vector<Guarded>& buffers() const { return m_buffers; }

  [[nodiscard]] std::span<const at::Tensor> tensors() const { return m_tensors; }
  [[nodiscard]] std::size_t check() const { return m_check; }

 private:
  std::vector<Guarded> m_buffers;
  std::vector<at::Tensor> m_chunks;   // whole
  std::vector<at::Tensor> m_tensors;  // one per graph input
  std::size_t m_check = 0;
};

}  // namespace swage::verify
