// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/lineage_layout.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace swage::ui {
namespace {

constexpr int kSweeps = 4;

// The graph while its order is sought: nodes by their index among the rows.
struct Graph {
  explicit Graph(const std::vector<services::CandidateRow>& rows) : parents(rows.size()), children(rows.size()) {
    std::map<std::int64_t, std::size_t> indexOf;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      indexOf.emplace(rows[i].id.value(), i);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const domain::CandidateId parent : rows[i].parents) {
        const auto found = indexOf.find(parent.value());
        // A parent is older than its child; anything else is a damaged record and would make a circle.
        if (found != indexOf.end() && rows[found->second].id < rows[i].id) {
          parents[i].push_back(found->second);
          children[found->second].push_back(i);
        }
      }
    }
  }

  std::vector<std::vector<std::size_t>> parents;
  std::vector<std::vector<std::size_t>> children;
};

// One more than the latest of the parents, older candidates first.
std::vector<int> generationsOf(const std::vector<services::CandidateRow>& rows, const Graph& graph) {
  std::vector<std::size_t> byAge(rows.size());
  std::iota(byAge.begin(), byAge.end(), std::size_t{0});
  std::sort(byAge.begin(), byAge.end(), [&](std::size_t a, std::size_t b) { return rows[a].id < rows[b].id; });
  std::vector<int> generation(rows.size(), 0);
  for (const std::size_t node : byAge) {
    for (const std::size_t parent : graph.parents[node]) {
      generation[node] = std::max(generation[node], generation[parent] + 1);
    }
  }
  // One without parents stands next to its children, not at the far end.
  for (auto node = byAge.rbegin(); node != byAge.rend(); ++node) {
    if (graph.parents[*node].empty() && !graph.children[*node].empty()) {
      int earliest = generation[graph.children[*node].front()];
      for (const std::size_t child : graph.children[*node]) {
        earliest = std::min(earliest, generation[child]);
      }
      generation[*node] = earliest - 1;
    }
  }
  return generation;
}

using Columns = std::vector<std::vector<std::size_t>>;

// The mean place of the neighbours in the column before, or its own place where it has none.
void orderByNeighbours(std::vector<std::size_t>& column, const std::vector<std::vector<std::size_t>>& neighbours,
                       std::vector<double>& place) {
  std::map<std::size_t, double> wanted;
  for (const std::size_t node : column) {
    double sum = 0.0;
    for (const std::size_t neighbour : neighbours[node]) {
      sum += place[neighbour];
    }
    wanted[node] = neighbours[node].empty() ? place[node] : sum / static_cast<double>(neighbours[node].size());
  }
  std::stable_sort(column.begin(), column.end(),
                   [&wanted](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  for (std::size_t i = 0; i < column.size(); ++i) {
    // Centred, so that columns of different heights have the same middle.
    place[column[i]] = static_cast<double>(i) - static_cast<double>(column.size()) / 2.0;
  }
}

void reduceCrossings(Columns& columns, const Graph& graph, std::size_t nodes) {
  std::vector<double> place(nodes, 0.0);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      orderByNeighbours(columns[i], graph.parents, place);
    }
    for (std::size_t i = columns.size(); i-- > 0;) {
      orderByNeighbours(columns[i], graph.children, place);
    }
  }
}

}  // namespace

LineageLayout LineageLayout::of(const std::vector<services::CandidateRow>& rows) {
  LineageLayout layout;
  if (rows.empty()) {
    return layout;
  }
  const Graph graph(rows);
  const std::vector<int> generation = generationsOf(rows, graph);
  const int first = *std::min_element(generation.begin(), generation.end());
  const int last = *std::max_element(generation.begin(), generation.end());
  Columns columns(static_cast<std::size_t>(last - first + 1));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    columns[static_cast<std::size_t>(generation[i] - first)].push_back(i);
  }
  reduceCrossings(columns, graph, rows.size());
  std::vector<std::size_t> nodeOf(rows.size());
  for (std::size_t column = 0; column < columns.size(); ++column) {
    for (std::size_t place = 0; place < columns[column].size(); ++place) {
      nodeOf[columns[column][place]] = layout.nodes.size();
      layout.nodes.push_back({rows[columns[column][place]], static_cast<int>(column), static_cast<int>(place)});
    }
    layout.tallest = std::max(layout.tallest, static_cast<int>(columns[column].size()));
  }
  for (std::size_t child = 0; child < rows.size(); ++child) {
    for (const std::size_t parent : graph.parents[child]) {
      layout.edges.push_back({nodeOf[parent], nodeOf[child]});
    }
  }
  layout.generations = static_cast<int>(columns.size());
  return layout;
}

int LineageLayout::indexOf(domain::CandidateId id) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [id](const Node& node) { return node.row.id == id; });
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

int LineageLayout::neighbour(int node, int across, int along) const {
  if (node < 0 || node >= static_cast<int>(nodes.size())) {
    return nodes.empty() ? -1 : 0;
  }
  const Node& from = nodes[static_cast<std::size_t>(node)];
  if (across == 0) {
    const int to = node + along;
    const bool isSame = to >= 0 && to < static_cast<int>(nodes.size()) &&
                        nodes[static_cast<std::size_t>(to)].generation == from.generation;
    return isSame ? to : -1;
  }
  // A relative that way: the first parent, or the first child.
  int found = -1;
  for (const Edge& edge : edges) {
    const auto [near, far] = across < 0 ? std::pair(edge.child, edge.parent) : std::pair(edge.parent, edge.child);
    if (static_cast<int>(near) == node && (found < 0 || static_cast<int>(far) < found)) {
      found = static_cast<int>(far);
    }
  }
  return found;
}

}  // namespace swage::ui
