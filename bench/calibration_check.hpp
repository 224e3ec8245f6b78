// Checks the judgement of error bars on errors whose law is known.
#pragma once

namespace rehmc::bench {

/// Simulates estimates with honest MCSEs, with MCSEs that scatter, and with such that state how few
/// their degrees of freedom are; throws if they are not judged accordingly.
void check_judgement();

}  // namespace rehmc::bench
