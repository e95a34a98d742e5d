#include "spmv/order/cuthill_mckee.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/cuthill_mckee_ordering.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>

namespace weft::spmv {

std::vector<std::int32_t> reverse_cuthill_mckee(RowGraph graph) {
  using Graph =
      boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                         boost::no_property, std::uint32_t, std::uint32_t>;
  const auto row_count = static_cast<std::size_t>(graph.row_count());
  std::vector<std::int32_t> new_rows(row_count);
  if (row_count == 0) return new_rows;

  std::vector<std::uint32_t> degrees(row_count);
  std::vector<std::uint32_t> sources;
  sources.reserve(graph.neighbours.size());
  for (std::size_t row = 0; row < row_count; ++row) {
    degrees[row] = static_cast<std::uint32_t>(graph.degree(row));
    sources.insert(sources.end(), degrees[row], static_cast<std::uint32_t>(row));
  }
  std::vector<std::uint32_t> targets(graph.neighbours.begin(), graph.neighbours.end());
  graph = {};
  const Graph boost_graph(boost::construct_inplace_from_sources_and_targets, sources, targets,
                          static_cast<std::uint32_t>(row_count));

  const auto index = get(boost::vertex_index, boost_graph);
  std::vector<boost::default_color_type> colours(row_count);
  std::vector<std::uint32_t> order;
  order.reserve(row_count);
  boost::cuthill_mckee_ordering(boost_graph, std::back_inserter(order),
                                boost::make_iterator_property_map(colours.begin(), index),
                                boost::make_iterator_property_map(degrees.begin(), index));
  for (std::size_t place = 0; place < row_count; ++place)
    new_rows[order[place]] = static_cast<std::int32_t>(row_count - 1 - place);
  return new_rows;
}

}  // namespace weft::spmv
