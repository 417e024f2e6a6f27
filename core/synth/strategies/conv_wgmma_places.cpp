// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/conv_wgmma_places.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace swage::synth {

void HaloPlaces::name() {
  m_code.line("{0}* const places = reinterpret_cast<{0}*>(behind + {1});  // in memory, of pixels", m_writer.index(),
              HaloLayout::kPlaces);
  if (m_problem.far() != nullptr) {
    m_code.line("int* const deep = reinterpret_cast<int*>(behind + {});  // and where along the window far out",
                HaloLayout::kPlaces + 8 * m_layout.allPixels * m_layout.tables(m_tiles));
  }
  if (m_problem.twin) {
    m_code.line(
        "int* const twins = reinterpret_cast<int*>(behind + {});  // which of both pixels are there",
        HaloLayout::kPlaces + (m_problem.far() == nullptr ? 8 : 12) * m_layout.allPixels * m_layout.tables(m_tiles));
  }
}

std::string HaloPlaces::cornerOf(const HaloDim& dim, std::int64_t behind) const {
  std::vector<std::int64_t> factors(m_region.axes.size(), 0);
  std::vector<std::size_t> axes = m_problem.batch;
  for (const std::size_t axis : axes) {
    factors[axis] = dim.factors[axis];
  }
  factors[dim.position] = dim.stride;
  axes.push_back(dim.position);
  return coordinateSum(m_writer, factors, axes, dim.offset - behind);
}

bool HaloPlaces::hasEdges(const HaloDim& dim) const {
  const bool moves = std::any_of(m_problem.batch.begin(), m_problem.batch.end(),
                                 [&](std::size_t axis) { return dim.factors[axis] != 0; });
  return moves || dim.offset != 0 || dim.window || dim.stride * (dim.positions - 1) >= dim.extent;
}

void HaloPlaces::locateOuter(std::string& isInside, std::string& address) {
  const HaloDim* const far = m_problem.far();
  for (std::size_t i = 0; i + 2 < m_problem.dims.size(); ++i) {
    const HaloDim& dim = m_problem.dims[i];
    const std::string corner = cornerOf(dim, 0);
    address += fmt::format(" + ({}) * {}", corner, dim.elements);
    if (&dim == far) {
      m_code.line("const int outer = static_cast<int>({});", corner);
    } else if (hasEdges(dim)) {
      isInside += fmt::format(" && inside({}, {})", corner, dim.extent);
    }
  }
}

void HaloPlaces::write() {
  const KernelWriter::Scope outside = m_writer.scope();
  const HaloDim& across = m_problem.across();
  const HaloDim* const down = m_problem.down();
  const HaloDim* const far = m_problem.far();
  const std::string_view type = m_writer.index();
  m_code.comment("Where each pixel lies; -1 outside of the input.");
  m_code.pragma("#pragma unroll 1");
  m_code.open("for (int pixel = thread; pixel < {}; pixel += {})", m_layout.allPixels, m_tiles.gatherers());
  const std::string in = m_tiles.parts > 1 ? fmt::format("pixel % {}", m_layout.pixels) : "pixel";
  m_code.line("const int in = {};", in);
  m_code.line("const int place = tile.place{};",
              m_tiles.parts > 1 ? fmt::format(" + pixel / {}", m_layout.pixels) : "");
  m_text.locate();
  const std::int64_t plane = m_layout.pitch * m_layout.rows;
  const auto offset = [](const HaloDim& dim, const std::string& number, const std::string& planeNumber) {
    return (dim.stride == 1 ? number : fmt::format("({}) * {}", number, dim.stride)) +
           (dim.planes() > 1 ? " + " + planeNumber : "");
  };
  const std::int64_t planes = across.planes();
  m_code.line("const {} x_in = {} + {};", type, cornerOf(across, across.behind()),
              offset(across, fmt::format("in % {}", m_layout.pitch), fmt::format("in / {} % {}", plane, planes)));
  std::string isInside = m_problem.twin ? "true" : fmt::format("inside(x_in, {})", across.extent);
  std::vector<std::int64_t> strides = m_problem.input().strides;
  std::vector<std::size_t> axes = m_problem.batch;
  std::string address = fmt::format("x_in * {}", across.elements);
  if (down != nullptr) {
    m_code.line("const {} y_in = {} + {};", type, cornerOf(*down, down->behind()),
                offset(*down, fmt::format("in / {} % {}", m_layout.pitch, m_layout.rows),
                       fmt::format("in / {}", plane * planes)));
    isInside += fmt::format(" && inside(y_in, {})", down->extent);
    address += fmt::format(" + y_in * {}", down->elements);
  }
  locateOuter(isInside, address);
  address += fmt::format(" + {}", coordinateSum(m_writer, strides, axes, m_problem.input().offset));
  if (m_layout.places % m_tiles.parts != 0) {
    isInside += fmt::format(" && place < {}", m_layout.places);
  }
  if (m_problem.twin) {
    m_code.line("twins[{4}] = {0} ? (inside(x_in, {1}) ? 1 : 0) + (inside(x_in {2} {3}, {1}) ? 2 : 0) : 0;", isInside,
                across.extent, m_problem.twinStep < 0 ? "-" : "+", std::abs(m_problem.twinStep), at());
  }
  if (far != nullptr) {
    m_code.line("places[{}] = {};", at(), address);
    m_code.line("deep[{}] = {} ? outer : -{};", at(), isInside, std::int64_t{1} << 30);
  } else if (m_problem.twin) {
    m_code.line("places[{}] = {};", at(), address);
  } else {
    m_code.line("places[{}] = {} ? {} : -1;", at(), isInside, address);
  }
  m_code.close();
  m_writer.leave(outside);
}

}  // namespace swage::synth
