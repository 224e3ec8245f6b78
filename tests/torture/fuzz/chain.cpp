// Fuzzes the reader of stored chains, which checkpoints contain.
#include "rehmc/run/chain.hpp"
#include "normal.hpp"
#include "reader.hpp"

REHMC_FUZZ(chain) {
  rehmc::ArchiveReader stored(bytes);
  rehmc::SampleSettings settings = rehmc::fuzz::settings_of_chain();
  settings.warmup.schedule = rehmc::WarmupSchedule::stan;  // as of the seeds
  rehmc::Chain chain(rehmc::Density(rehmc::fuzz::Normal{}), settings, {1, 0, 0}, stored);
  chain.facts();
  if (chain.warm()) chain.begin_sampling();
  chain.step();
}
