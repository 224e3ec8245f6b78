// Lays out the columns of several scalars side by side and fits them fold by fold.
#include "fit_group.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "scalar_choice.hpp"

namespace rehmc::stein {

namespace {

constexpr Index most_states = 400'000;  ///< limits the memory of a group
constexpr Index most_tasks = 4;
constexpr Index cache_line = 8;  ///< in numbers

}  // namespace

FitGroup::FitGroup(Run& run, std::vector<SharpenedEstimate>& results)
    : run_(run),
      results_(results),
      most_(static_cast<std::size_t>(
          std::clamp(most_states / run.table.states(), Index{1}, most_tasks))),
      alignment_(cache_line / std::gcd(cache_line, to_index(run.table.draws()))) {}

void FitGroup::add(FitTask task) {
  tasks_.push_back(std::move(task));
  if (tasks_.size() == most_) flush();
}

void FitGroup::flush() {
  for (std::size_t f = 0; f < run_.folds.size(); ++f) fit_fold(f);
  for (FitTask& task : tasks_) {
    Remainders& remainders = task.fit.remainders();
    results_[task.scalar] =
        ScalarChoice(run_, task.fit.target(), remainders, *task.states).estimate();
    for (std::size_t s = Remainders::index(FeatureSet::none) + 1; s < feature_sets; ++s) {
      run_.give_back(std::move(remainders.left[s]));
      run_.give_back(std::move(remainders.effects[s]));
    }
  }
  tasks_.clear();
}

Index FitGroup::panel(std::size_t f) const {
  return most_tasks * ScalarFit::columns_of_coordinate(run_, f).count();
}

void FitGroup::fit_fold(std::size_t f) {
  std::vector<Part> parts;
  Index width = 0;
  for (FitTask& task : tasks_) {
    Part part{&task, {width, task.fit.columns_for(task.own[f]).count()}};
    if (part.columns.end() > panel(f) && !parts.empty()) {
      fit_parts(f, parts);
      parts.clear();
      part.columns.first = 0;
    }
    width = (part.columns.end() + alignment_ - 1) / alignment_ * alignment_;
    parts.push_back(part);
  }
  fit_parts(f, parts);
}

void FitGroup::fit_parts(std::size_t f, const std::vector<Part>& parts) {
  if (parts.empty()) return;
  const Index width = std::max(panel(f), parts.back().columns.end());
  // Columns between the parts may hold old numbers, which are never read.
  if (all_.cols() != width) all_.setZero(to_index(run_.table.draws()), width);
  for (const auto& [task, columns] : parts) {
    task->fit.put_columns(task->own[f], columns.of(all_));
  }
  run_.shared[f].remainders(all_, remainders_);
  for (const auto& [task, columns] : parts) {
    task->fit.fit(f, task->own[f], columns.of(all_), columns.of(remainders_),
                  task->states->empty() ? nullptr : &(*task->states)[f]);
  }
}

}  // namespace rehmc::stein
