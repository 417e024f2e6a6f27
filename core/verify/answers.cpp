// SPDX-License-Identifier: Apache-2.0
#include "core/verify/answers.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <cstring>

namespace swage::verify {
namespace {

template <class T>
T valueOf(std::span<const char> bytes) {
  T value{};
  TORCH_CHECK(bytes.size() == sizeof value, "an answer is no scalar");
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

double numberOf(std::span<const char> bytes, at::ScalarType type) {
  switch (type) {
    case at::kDouble: return valueOf<double>(bytes);
    case at::kFloat: return valueOf<float>(bytes);
    case at::kHalf: return valueOf<at::Half>(bytes);
    case at::kBFloat16: return valueOf<at::BFloat16>(bytes);
    default: TORCH_CHECK(false, "an answer is no number");
  }
}

}  // namespace

Answers::Range Answers::add(const std::vector<at::Tensor>& small) {
  const Range range{m_asked.size(), small.size()};
  m_asked.insert(m_asked.end(), small.begin(), small.end());
  return range;
}

void Answers::fetch() {
  std::vector<at::Tensor> bytes;
  m_begins.assign(1, 0);
  m_types.clear();
  for (const at::Tensor& one : m_asked) {
    const bool isBytes = one.scalar_type() == at::kByte && one.dim() == 1;
    bytes.push_back(isBytes ? one : one.view(-1).view(at::kByte));
    m_types.push_back(one.scalar_type());
    m_begins.push_back(m_begins.back() + one.nbytes());
  }
  if (!bytes.empty()) {
    m_bytes = at::cat(bytes).cpu();
  }
  m_asked.clear();  // they may be parts of buffers that are freed before the answers
}

std::span<const char> Answers::bytesAt(std::size_t index) const {
  const auto* first = static_cast<const char*>(m_bytes.const_data_ptr());
  return {first + m_begins.at(index), first + m_begins.at(index + 1)};
}

std::string_view Answers::bytesOf(Range range) const {
  if (range.count == 0) {
    return {};
  }
  const char* first = bytesAt(range.first).data();
  return {first, m_begins.at(range.first + range.count) - m_begins.at(range.first)};
}

std::vector<double> Answers::numbersOf(Range range) const {
  std::vector<double> numbers;
  for (std::size_t i = range.first; i < range.first + range.count; ++i) {
    numbers.push_back(numberOf(bytesAt(i), m_types[i]));
  }
  return numbers;
}

std::int64_t Answers::totalOf(Range range) const {
  std::uint64_t total = 0;
  for (std::size_t i = range.first; i < range.first + range.count; ++i) {
    total += valueOf<std::uint64_t>(bytesAt(i));
  }
  return static_cast<std::int64_t>(total);
}

int Answers::firstSetOf(Range range) const {
  const std::string_view flags = bytesOf(range);
  const auto found = std::find_if(flags.begin(), flags.end(), [](char flag) { return flag != 0; });
  return found == flags.end() ? -1 : static_cast<int>(found - flags.begin());
}

}  // namespace swage::verify
