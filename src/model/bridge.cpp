// Calls BridgeStan's C functions, and turns their error codes into exceptions.
#include "rehmc/model/bridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "rehmc/core/error.hpp"
#include "rehmc/core/numerics.hpp"
#include "rehmc/model/messages.hpp"

// The types that the C interface leaves opaque.
struct bs_model;
struct bs_rng;

namespace rehmc {
namespace {

/// Number of random points that show which quantities depend on one coordinate alone; the
/// probability of a false positive is 2^-24.
constexpr int probes = 24;

using PrintFunction = void (*)(const char* text, std::size_t size);

/// A print function only gets the text. Each library has its own print function, which identifies
/// it; if there are more libraries than these, the others share the last.
constexpr std::size_t print_functions = 64;

LibraryMessages& printed_by(std::size_t library) {
  static std::array<LibraryMessages, print_functions> messages;
  return messages[std::min(library, print_functions - 1)];
}

template <std::size_t library>
void print(const char* text, std::size_t size) {
  printed_by(library).print({text, size});
}

PrintFunction print_function(std::size_t library) {
  static constexpr auto functions = []<std::size_t... k>(std::index_sequence<k...>) {
    return std::array<PrintFunction, print_functions>{&print<k>...};
  }
  (std::make_index_sequence<print_functions>());
  return functions[std::min(library, print_functions - 1)];
}

std::vector<std::string> split_names(const char* text) {
  std::vector<std::string> names;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    names.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

/// The functions of a library, checked once.
struct Functions {
  explicit Functions(const SharedLibrary& from) {
    const std::string name = from.path().string();
    std::string missing;
    const auto need = [&]<class F>(F*& function, const char* symbol) {
      function = from.function<F>(symbol);
      if (function == nullptr) missing += missing.empty() ? symbol : fmt::format(", {}", symbol);
    };
    need(construct, "bs_model_construct");
    need(destruct, "bs_model_destruct");
    need(free_error, "bs_free_error_msg");
    need(name_of, "bs_name");
    need(info, "bs_model_info");
    need(names, "bs_param_names");
    need(unconstrained_names, "bs_param_unc_names");
    need(number, "bs_param_num");
    need(unconstrained_number, "bs_param_unc_num");
    need(constrain, "bs_param_constrain");
    need(unconstrain_json, "bs_param_unconstrain_json");
    need(log_density, "bs_log_density");
    need(log_density_gradient, "bs_log_density_gradient");
    need(rng_construct, "bs_rng_construct");
    need(rng_destruct, "bs_rng_destruct");
    need(set_print_callback, "bs_set_print_callback");
    if (!missing.empty()) {
      throw DataError(fmt::format(
          "{}: is a shared library, but not a model: it lacks {}. {}", name, missing,
          from.find("bs_construct") != nullptr
              ? "It was built by BridgeStan 1; compile it with BridgeStan 2 or `rehmc compile`"
              : "Expected a library that `rehmc compile` or BridgeStan built from a Stan program"));
    }
  }

  bs_model* (*construct)(const char* data, unsigned seed, char** error);
  void (*destruct)(bs_model*);
  void (*free_error)(char*);
  const char* (*name_of)(const bs_model*);
  const char* (*info)(const bs_model*);
  const char* (*names)(const bs_model*, bool transformed, bool generated);
  const char* (*unconstrained_names)(const bs_model*);
  int (*number)(const bs_model*, bool transformed, bool generated);
  int (*unconstrained_number)(const bs_model*);
  int (*constrain)(const bs_model*, bool transformed, bool generated, const double* x,
                   double* values, bs_rng*, char** error);
  int (*unconstrain_json)(const bs_model*, const char* json, double* x, char** error);
  int (*log_density)(const bs_model*, bool propto, bool jacobian, const double* x, double* value,
                     char** error);
  int (*log_density_gradient)(const bs_model*, bool propto, bool jacobian, const double* x,
                              double* value, double* gradient, char** error);
  bs_rng* (*rng_construct)(unsigned seed, char** error);
  void (*rng_destruct)(bs_rng*);
  int (*set_print_callback)(void (*)(const char*, std::size_t), char** error);
};

/// A library with its functions, and the lock for one whose models must not run at the same time.
struct BridgeLibrary {
  explicit BridgeLibrary(const std::filesystem::path& path) : library(path), functions(library) {}
  SharedLibrary library;
  Functions functions;
  std::size_t number = 0;  ///< in the order of opening
  mutable std::mutex turn;
};

/// All models of one file share its lock.
std::shared_ptr<const BridgeLibrary> open_library(const std::filesystem::path& path) {
  static std::mutex mutex;
  static std::map<void*, std::shared_ptr<const BridgeLibrary>> libraries;
  auto opened = std::make_shared<BridgeLibrary>(path);
  const std::lock_guard lock(mutex);
  opened->number = libraries.size();
  void* const key = reinterpret_cast<void*>(opened->functions.construct);
  return libraries.try_emplace(key, std::move(opened)).first->second;
}

}  // namespace

class BridgeDensity::Model {
 public:
  Model(const std::filesystem::path& path, const std::string& data, std::uint32_t seed,
        std::shared_ptr<ModelMessages> heard)
      : messages(std::move(heard)),
        library_(open_library(path)),
        call_(library_->functions),
        hearing_(printed_by(library_->number), *messages) {
    const MessageReceiver receiver(*messages);
    char* error = nullptr;
    call_.set_print_callback(print_function(library_->number), &error);
    take_message(error);  // the model is usable without prints
    const std::lock_guard lock(library_->turn);
    model_ = call_.construct(data.c_str(), seed, &error);
    const std::string message = take_message(error);
    if (model_ == nullptr) throw DataError(message.empty() ? "the model gave no reason" : message);
    name = call_.name_of(model_);
    info = call_.info(model_);
    takes_turns = info.find("STAN_THREADS=true") == std::string::npos;
    names = split_names(call_.unconstrained_names(model_));
    dimension = static_cast<std::size_t>(call_.unconstrained_number(model_));
    parameters = static_cast<std::size_t>(call_.number(model_, false, false));
    determined = static_cast<std::size_t>(call_.number(model_, true, false));
    for (std::string& each : split_names(call_.names(model_, true, true))) {
      const bool generated = quantities.size() >= determined;
      const bool transformed = !generated && quantities.size() >= parameters;
      quantities.push_back(
          {.name = std::move(each), .generated = generated, .transformed = transformed});
    }
  }
  ~Model() { call_.destruct(model_); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  double log_density_gradient(const double* x, double* gradient) const {
    double value = nan_value;
    char* error = nullptr;
    const Visit visit(*this);
    if (call_.log_density_gradient(model_, true, true, x, &value, gradient, &error) != 0) {
      reject(error);
    }
    return value;
  }

  double log_density(const double* x) const {
    double value = nan_value;
    char* error = nullptr;
    const Visit visit(*this);
    if (call_.log_density(model_, true, true, x, &value, &error) != 0) reject(error);
    return value;
  }

  /// Parameters and transformed parameters, or parameters alone.
  void constrain(const double* x, double* values, bool transformed = true) const {
    char* error = nullptr;
    const Visit visit(*this);
    if (call_.constrain(model_, transformed, false, x, values, nullptr, &error) != 0) reject(error);
  }

  /// Generated quantities too.
  void generate(const double* x, double* values, Stream& stream) const {
    const Visit visit(*this);
    const Generator generator(call_, stream);
    char* error = nullptr;
    if (call_.constrain(model_, true, true, x, values, generator.get(), &error) != 0) reject(error);
  }

  void unconstrain(const std::string& json, double* x) const {
    const Visit visit(*this);
    char* error = nullptr;
    if (call_.unconstrain_json(model_, json.c_str(), x, &error) != 0) {
      throw DataError(take_message(error));
    }
  }

  std::shared_ptr<ModelMessages> messages;
  std::string name;
  std::string info;
  bool takes_turns = false;
  std::size_t dimension = 0;
  std::size_t parameters = 0;
  std::size_t determined = 0;  ///< quantities that are not generated
  std::vector<std::string> names;
  std::vector<Quantity> quantities;

 private:
  /// A random number generator of the library, for one call.
  class Generator {
   public:
    Generator(const Functions& call, Stream& stream) : call_(call) {
      char* error = nullptr;
      generator_ = call.rng_construct(static_cast<unsigned>(stream.bits() >> 32), &error);
      if (error != nullptr) call.free_error(error);
    }
    ~Generator() {
      if (generator_ != nullptr) call_.rng_destruct(generator_);
    }
    Generator(const Generator&) = delete;
    Generator& operator=(const Generator&) = delete;
    bs_rng* get() const { return generator_; }

   private:
    const Functions& call_;
    bs_rng* generator_;
  };

  /// Registers a model for what the library's own threads print.
  class Hearing {
   public:
    Hearing(LibraryMessages& library, ModelMessages& messages)
        : library_(library), messages_(messages) {
      library_.enter(messages_);
    }
    ~Hearing() { library_.leave(messages_); }
    Hearing(const Hearing&) = delete;
    Hearing& operator=(const Hearing&) = delete;

   private:
    LibraryMessages& library_;
    ModelMessages& messages_;
  };

  /// One call of the library: waits for its turn if necessary, and receives what the model prints.
  struct Visit {
    explicit Visit(const Model& model)
        : turn(model.takes_turns ? std::unique_lock(model.library_->turn)
                                 : std::unique_lock<std::mutex>()),
          receiver(*model.messages) {}
    std::unique_lock<std::mutex> turn;
    MessageReceiver receiver;
  };

  /// The library's message without trailing line ends; frees its copy.
  std::string take_message(char* error) const {
    if (error == nullptr) return "";
    std::string message = error;
    call_.free_error(error);
    while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) {
      message.pop_back();
    }
    return message;
  }

  [[noreturn]] void reject(char* error) const {
    std::string message = take_message(error);
    if (message.empty()) message = "the model gave no reason";
    messages->add(message);
    throw std::domain_error(message);
  }

  std::shared_ptr<const BridgeLibrary> library_;
  const Functions& call_;
  Hearing hearing_;
  bs_model* model_ = nullptr;
};

namespace {

/// A quantity, and the coordinate of its name.
using Candidate = std::pair<std::size_t, std::size_t>;

std::vector<Candidate> candidates_of(const std::vector<std::string>& names, std::size_t parameters,
                                     const std::vector<Quantity>& quantities) {
  std::map<std::string, std::size_t> coordinates;
  for (std::size_t i = 0; i < names.size(); ++i) coordinates[names[i]] = i;
  std::vector<Candidate> candidates;
  for (std::size_t k = 0; k < std::min(parameters, quantities.size()); ++k) {
    const auto found = coordinates.find(quantities[k].name);
    if (found != coordinates.end()) candidates.emplace_back(k, found->second);
  }
  return candidates;
}

/// Marks the parameters that are functions of the coordinate of their own name alone; Stan's
/// transforms of such are monotone. A bound or a scale may be another parameter, so names are not
/// enough: this compares points that share half of their coordinates.
template <class Constrain>
void find_coordinates(std::vector<Candidate> candidates, std::size_t dimension,
                      std::vector<Quantity>& quantities, std::size_t determined,
                      const Constrain& constrain) {
  std::map<std::size_t, std::vector<CoordinateMap>> maps;  // that agree at all points so far
  for (const auto& candidate : candidates) {
    maps[candidate.first] = {CoordinateMap::identity, CoordinateMap::exponential,
                             CoordinateMap::logistic};
  }
  Stream stream(Address{}, Purpose::coordinate_search);
  std::vector<double> x(dimension);
  std::vector<double> mixed(dimension);
  std::vector<double> at_x(determined);
  std::vector<double> at_mixed(determined);
  std::vector<char> shared(dimension);
  for (int probe = 0; probe < probes && !candidates.empty(); ++probe) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = 4 * stream.uniform() - 2;
      shared[i] = static_cast<char>(stream.chance(0.5));
      mixed[i] = shared[i] != 0 ? x[i] : 4 * stream.uniform() - 2;
    }
    if (!constrain(x, at_x) || !constrain(mixed, at_mixed))
      return;  // then nothing can be concluded
    std::erase_if(candidates, [&](const auto& candidate) {
      const std::size_t quantity = candidate.first;
      const std::size_t coordinate = candidate.second;
      const double at = x[coordinate];
      std::erase_if(maps[quantity],
                    [&](CoordinateMap map) { return apply(map, at) != at_x[quantity]; });
      const bool same = at_x[quantity] == at_mixed[quantity];
      return shared[coordinate] != 0 ? !same : same;
    });
  }
  for (const auto& [quantity, coordinate] : candidates) {
    quantities[quantity].coordinate = coordinate;
    if (!maps[quantity].empty()) quantities[quantity].map = maps[quantity].front();
  }
}

/// Marks the parameters that are their coordinate times a coordinate, plus a coordinate, to the
/// last bit at all points.
template <class Constrain>
void find_scaled(const std::vector<Candidate>& candidates, std::size_t dimension,
                 std::vector<Quantity>& quantities, std::size_t determined,
                 const Constrain& constrain) {
  constexpr std::size_t most_others = 32;  // pairs of them are tried
  std::vector<std::optional<MappedCoordinate>> others{std::nullopt};
  for (const auto& [quantity, coordinate] : candidates) {
    const Quantity& parameter = quantities[quantity];
    if (parameter.follows_from_coordinates() && others.size() <= most_others) {
      others.emplace_back(MappedCoordinate{coordinate, parameter.map});
    }
  }
  Stream stream(Address{.iteration = 1}, Purpose::coordinate_search);
  std::vector<std::vector<double>> points(probes, std::vector<double>(dimension));
  std::vector<std::vector<double>> values(probes, std::vector<double>(determined));
  for (std::size_t probe = 0; probe < points.size(); ++probe) {
    for (double& number : points[probe]) number = 4 * stream.uniform() - 2;
    if (!constrain(points[probe], values[probe])) return;
  }
  for (const auto& candidate : candidates) {
    Quantity& parameter = quantities[candidate.first];
    if (parameter.coordinate) continue;
    const auto agrees = [&](const ScaledCoordinate& form) {
      for (std::size_t probe = 0; probe < points.size(); ++probe) {
        if (form.at(points[probe]) != values[probe][candidate.first]) return false;
      }
      return true;
    };
    for (std::size_t pair = 0; pair < others.size() * others.size() && !parameter.scaled; ++pair) {
      const ScaledCoordinate form{candidate.second, others[pair / others.size()],
                                  others[pair % others.size()]};
      if (agrees(form)) parameter.scaled = form;
    }
  }
}

}  // namespace

BridgeDensity::BridgeDensity(const std::filesystem::path& library, const std::string& data,
                             std::uint32_t seed, std::shared_ptr<ModelMessages> messages) {
  if (!messages) messages = std::make_shared<ModelMessages>();
  auto model = std::make_shared<Model>(library, data, seed, std::move(messages));
  const MutedMessages muted(*model->messages);  // from here on
  const auto constrain = [&](const std::vector<double>& x, std::vector<double>& values) {
    try {
      model->constrain(x.data(), values.data());
      return true;
    } catch (const std::domain_error&) {
      return false;
    }
  };
  const std::vector<Candidate> candidates =
      candidates_of(model->names, model->parameters, model->quantities);
  const std::size_t dimension = model->names.size();
  find_coordinates(candidates, dimension, model->quantities, model->determined, constrain);
  find_scaled(candidates, dimension, model->quantities, model->determined, constrain);
  model_ = std::move(model);
  generator_ = model_;
}

void BridgeDensity::generate_by(const BridgeDensity& other) {
  auto same = [](const Quantity& a, const Quantity& b) { return a.name == b.name; };
  const std::vector<Quantity>& mine = model_->quantities;
  const std::vector<Quantity>& theirs = other.model_->quantities;
  if (model_->names != other.model_->names || mine.size() != other.model_->determined ||
      !std::equal(mine.begin(), mine.end(), theirs.begin(), same)) {
    throw DataError(
        fmt::format("{}: its parameters differ from those of the model that generates quantities",
                    model_->name));
  }
  generator_ = other.model_;
}

double BridgeDensity::operator()(std::span<const double> x, std::span<double> gradient) {
  return model_->log_density_gradient(x.data(), gradient.data());
}

double BridgeDensity::log_density(std::span<const double> x) const {
  return model_->log_density(x.data());
}

std::size_t BridgeDensity::dimension() const { return model_->dimension; }
std::vector<std::string> BridgeDensity::names() const { return model_->names; }

std::vector<Quantity> BridgeDensity::quantities() const {
  std::vector<Quantity> all = generator_->quantities;
  for (std::size_t k = 0; k < model_->determined; ++k) {
    all[k].coordinate = model_->quantities[k].coordinate;
    all[k].map = model_->quantities[k].map;
    all[k].scaled = model_->quantities[k].scaled;
  }
  for (Quantity& quantity : all) {
    quantity.determined = quantity.generated && determined_.contains(quantity.name);
  }
  return all;
}

void BridgeDensity::evaluate_quantities(std::span<const double> x, std::span<double> values,
                                        Stream* stream) {
  const bool generates = values.size() > model_->determined && stream != nullptr;
  if (!generates) {
    std::fill(values.begin(), values.end(), nan_value);
    return model_->constrain(x.data(), values.data());
  }
  try {
    generator_->generate(x.data(), values.data(), *stream);
  } catch (const std::domain_error&) {  // what the state determines was still written
    evaluate_quantities(x, values, nullptr);
    throw;
  }
}

void BridgeDensity::evaluate_first_quantities(std::span<const double> x, std::span<double> values) {
  const bool transformed = values.size() > model_->parameters;
  if (values.size() == (transformed ? model_->determined : model_->parameters)) {
    return model_->constrain(x.data(), values.data(), transformed);
  }
  std::vector<double> all(transformed ? model_->determined : model_->parameters);
  model_->constrain(x.data(), all.data(), transformed);
  std::copy_n(all.begin(), values.size(), values.begin());
}

std::vector<double> BridgeDensity::unconstrain(const std::string& json) const {
  std::vector<double> x(model_->dimension);
  model_->unconstrain(json, x.data());
  return x;
}

std::size_t BridgeDensity::parameters() const { return model_->parameters; }

ModelMessages& BridgeDensity::messages() const { return *model_->messages; }
const std::string& BridgeDensity::model_name() const { return model_->name; }
const std::string& BridgeDensity::info() const { return model_->info; }
bool BridgeDensity::takes_turns() const { return model_->takes_turns; }

}  // namespace rehmc
