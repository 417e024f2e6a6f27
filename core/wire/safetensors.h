// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/domain/graph.h"

namespace swage::wire {

// A safetensors file (TASK_FORMAT.md), mapped read-only: the length of the header (u64, little endian), the header as
// JSON {name: {dtype, shape, data_offsets: [begin, end]}}, then the data in which the offsets count. The header is
// treated as hostile: sizes are bounded before anything is allocated, and every tensor lies inside the file and has
// exactly the bytes that its shape needs.
class SafetensorsFile {
 public:
  struct Tensor {
    domain::TensorType type;  // contiguous
    std::span<const std::byte> bytes;
  };

  [[nodiscard]] static Result<SafetensorsFile> open(const std::filesystem::path& path);

  // nullptr when there is no such tensor.
  [[nodiscard]] const Tensor* find(const std::string& name) const;
  [[nodiscard]] std::size_t size() const { return m_tensors.size(); }

 private:
  struct Unmapper {
    std::size_t size = 0;
    void operator()(std::byte* address) const;
  };
  using Mapping = std::unique_ptr<std::byte, Unmapper>;

  SafetensorsFile(Mapping mapping, std::map<std::string, Tensor> tensors)
      : m_mapping(std::move(mapping)), m_tensors(std::move(tensors)) {}
  [[nodiscard]] static Result<std::map<std::string, Tensor>> parse(std::span<const std::byte> file);

  Mapping m_mapping;
  std::map<std::string, Tensor> m_tensors;
};

}  // namespace swage::wire
