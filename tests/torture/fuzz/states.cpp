// Fuzzes the reader of states files, after their checksums: an attacker computes these.
#include <string>

#include "input_file.hpp"
#include "reader.hpp"
#include "rehmc/output/states_file.hpp"

REHMC_FUZZ(states) {
  if (bytes.size() < 2) return;
  rehmc::StatesMark mark;
  mark.warmup_draws = static_cast<unsigned char>(bytes[0]);
  mark.draws = static_cast<unsigned char>(bytes[1]);
  bytes.remove_prefix(2);
  const rehmc::fuzz::InputFile file(bytes);
  rehmc::Sealer sealer;
  sealer.add(bytes);
  mark.seal = sealer.seal();
  rehmc::ChainResult result;
  for (rehmc::ChainRecord* record : {&result.record, &result.warmup}) {
    record->columns = {0, 1};
    record->coordinates = 2;
    record->gradients = rehmc::KeptGradients::yes;
    record->centre = {0, 0};
  }
  rehmc::read_states(file.path(), mark, result);
}
