// Opens the model of a run folder as rehmc resume does.
#include "kept_again.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "open_model.hpp"
#include "print.hpp"
#include "rehmc/core/error.hpp"
#include "rehmc/job/finish.hpp"
#include "rehmc/output/kept_quantities.hpp"

namespace rehmc::cli {

void read_kept_again(const RunFolder& folder, const Manifest& manifest, SampleResult& result,
                     const std::vector<std::size_t>& asked) {
  const bool computed = std::any_of(result.chains.begin(), result.chains.end(),
                                    [](const auto& chain) { return chain.record.computed; });
  if (!computed) return;
  const std::vector<std::size_t> of_states = columns_of_states(result);
  std::vector<std::size_t> columns = summarised_columns(manifest.settings, result);
  for (const std::size_t column : asked) {
    if (std::ranges::binary_search(of_states, column)) columns.push_back(column);
  }
  std::ranges::sort(columns);
  columns.erase(std::ranges::unique(columns).begin(), columns.end());
  if (read_kept_without_model(columns, result)) return;
  try {
    const OpenedModel model = stored_model(manifest, folder, {});
    read_kept(model.density, columns, result);
  } catch (const Error& error) {
    tell("Note: recycled states are not summarised, for their model cannot be opened: {}\n",
         error.what());
  }
}

}  // namespace rehmc::cli
