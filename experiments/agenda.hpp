// The work of a run and how much is done, for the estimate of the remaining time.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "experiments/results.hpp"

namespace rehmc::experiments {

/// The pieces of all wanted sections and studies by their names, with rough costs.
class Agenda {
 public:
  Agenda(Scale scale, const WantedParts& wanted);

  /// Pieces that an earlier run finished take no time.
  void forget_finished(const std::filesystem::path& folder);
  void finish(const std::string& piece);
  double done() const;  ///< the share of all costs

 private:
  void plan_foundation(CaseName name);
  void plan_studies(CaseName name, const WantedParts& wanted);
  void plan_tuning(CaseName name);
  void plan_gradients(CaseName name);
  void plan_overhead(CaseName name);
  void plan_groups(const std::string& study, std::size_t groups, double each);

  Scale scale_;
  std::map<std::string, double> costs_;  ///< core-seconds
  double done_ = 0;
};

}  // namespace rehmc::experiments
