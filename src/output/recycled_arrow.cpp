// Writes Arrow's columnar format, version 5 (https://arrow.apache.org/docs/format/Columnar.html).
//
// Its metadata are tables of FlatBuffers, whose fields are named here by their place in Schema.fbs,
// Message.fbs and File.fbs of the format.
#include "rehmc/output/recycled_arrow.hpp"

#include <flatbuffers/flatbuffers.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "rehmc/core/numerics.hpp"
#include "rehmc/core/stan_name.hpp"

namespace rehmc {

namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Table = flatbuffers::Offset<flatbuffers::Table>;

constexpr std::string_view magic = "ARROW1";
constexpr std::int16_t version_5 = 4;
constexpr std::uint8_t type_int = 2;
constexpr std::uint8_t type_floating_point = 3;
constexpr std::int16_t double_precision = 2;
constexpr std::uint8_t header_schema = 1;
constexpr std::uint8_t header_record_batch = 3;
constexpr std::uint32_t continuation = 0xffffffff;
constexpr std::size_t alignment = 64;  ///< of columns, as the format recommends

/// Where a column of a record batch lies in its body.
struct Extent {
  std::int64_t offset;
  std::int64_t length;
};
struct ColumnSize {
  std::int64_t length;
  std::int64_t nulls;
};
/// Where a record batch lies in the file.
struct Block {
  std::int64_t offset;
  std::int32_t metadata_length;
  std::int32_t padding = 0;
  std::int64_t body_length;
};

/// The place of a table's field in its vtable.
constexpr flatbuffers::voffset_t place(int field) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * field);
}

/// A table whose fields are added by a function.
template <class Add>
Table table(Builder& builder, const Add& add) {
  const flatbuffers::uoffset_t start = builder.StartTable();
  add();
  return {builder.EndTable(start)};
}

/// A column of whole numbers of 64 bits, or of floating-point numbers.
Table field(Builder& builder, const std::string& name, bool whole) {
  const auto text = builder.CreateString(name);
  const auto children = builder.CreateVector(std::vector<Table>());
  const Table type = table(builder, [&] {
    if (whole) {
      builder.AddElement<std::int32_t>(place(0), 64, 0);
      builder.AddElement<std::uint8_t>(place(1), 1, 0);  // signed
    } else {
      builder.AddElement<std::int16_t>(place(0), double_precision, 0);
    }
  });
  return table(builder, [&] {
    builder.AddOffset(place(0), text);
    builder.AddElement<std::uint8_t>(place(2), whole ? type_int : type_floating_point, 0);
    builder.AddOffset(place(3), type);
    builder.AddOffset(place(5), children);
  });
}

Table schema(Builder& builder, const std::vector<std::string>& whole,
             const std::vector<std::string>& floating) {
  std::vector<Table> fields;
  for (const std::string& name : whole) fields.push_back(field(builder, name, true));
  for (const std::string& name : floating) fields.push_back(field(builder, name, false));
  const auto all = builder.CreateVector(fields);
  return table(builder, [&] { builder.AddOffset(place(1), all); });
}

void pad(std::string& to, std::size_t unit) { to.resize((to.size() + unit - 1) / unit * unit); }

template <class Number>
void append_bytes(std::string& to, const Number& number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

/// Appends a message; its body follows. Returns the length of what was appended.
std::int32_t append_message(std::string& to, Builder& builder, std::uint8_t kind, Table header,
                            std::int64_t body_length) {
  builder.Finish(table(builder, [&] {
    builder.AddElement<std::int64_t>(place(3), body_length, 0);
    builder.AddOffset(place(2), header);
    builder.AddElement<std::int16_t>(place(0), version_5, 0);
    builder.AddElement<std::uint8_t>(place(1), kind, 0);
  }));
  const std::size_t begin = to.size();
  append_bytes(to, continuation);
  const std::size_t size = (std::size_t{builder.GetSize()} + 7) / 8 * 8;
  append_bytes(to, static_cast<std::int32_t>(size));
  to.append(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  pad(to, 8);
  return static_cast<std::int32_t>(to.size() - begin);
}

/// The columns of one chain, one after the other.
class Body {
 public:
  explicit Body(std::size_t rows) : rows_(rows) {}

  /// value_of(row) for all rows.
  template <class ValueOf>
  void add(const ValueOf& value_of) {
    extents_.push_back(
        {static_cast<std::int64_t>(bytes_.size()), 0});  // no nulls, so no map of them
    extents_.push_back({static_cast<std::int64_t>(bytes_.size()),
                        static_cast<std::int64_t>(rows_ * sizeof(value_of(0)))});
    sizes_.push_back({static_cast<std::int64_t>(rows_), 0});
    for (std::size_t row = 0; row < rows_; ++row) append_bytes(bytes_, value_of(row));
    pad(bytes_, alignment);
  }

  Block append_to(std::string& file) const {
    Builder builder;
    const auto sizes = builder.CreateVectorOfStructs(sizes_.data(), sizes_.size());
    const auto extents = builder.CreateVectorOfStructs(extents_.data(), extents_.size());
    const Table batch = table(builder, [&] {
      builder.AddElement<std::int64_t>(place(0), static_cast<std::int64_t>(rows_), 0);
      builder.AddOffset(place(1), sizes);
      builder.AddOffset(place(2), extents);
    });
    const auto length = static_cast<std::int64_t>(bytes_.size());
    Block block{static_cast<std::int64_t>(file.size()), 0, 0, length};
    block.metadata_length = append_message(file, builder, header_record_batch, batch, length);
    file += bytes_;
    return block;
  }

 private:
  std::size_t rows_;
  std::string bytes_;
  std::vector<ColumnSize> sizes_;
  std::vector<Extent> extents_;
};

/// A kept state, by its draw and its place among the states of the draw, all counted from 0.
struct Row {
  std::size_t draw;
  std::size_t slot;
  std::size_t state;
};

Body body_of(const SampleResult& result, std::size_t chain, std::uint64_t thin) {
  const ChainRecord& record = result.chains[chain].record;
  std::vector<Row> rows;
  for (std::size_t draw = 0; draw < record.size(); draw += thin) {
    const std::size_t begin = record.kept_begin(draw);
    for (std::size_t state = begin; state < record.kept_begin(draw + 1); ++state) {
      rows.push_back({draw, state - begin, state});
    }
  }
  Body body(rows.size());
  body.add([&](std::size_t) { return static_cast<std::int64_t>(chain + 1); });
  body.add([&](std::size_t row) { return static_cast<std::int64_t>(rows[row].draw + 1); });
  body.add([&](std::size_t row) { return static_cast<std::int64_t>(rows[row].slot + 1); });
  body.add([&](std::size_t row) { return std::log(record.kept_weight[rows[row].state]); });
  for (std::size_t column = 0; column < record.dimension(); ++column) {
    const auto kept = record.kept_place(column);
    body.add([&](std::size_t row) {
      return kept ? record.kept[rows[row].state * record.kept_dimension() + *kept] : nan_value;
    });
  }
  return body;
}

}  // namespace

std::string recycled_arrow(const SampleResult& result, std::uint64_t thin) {
  const std::vector<std::string> whole{"chain__", "iter__", "slot__"};
  std::vector<std::string> floating{"log_weight__"};
  for (const std::string& name : result.names) floating.push_back(stan_name(name));
  std::string file(magic);
  pad(file, 8);
  Builder builder;
  append_message(file, builder, header_schema, schema(builder, whole, floating), 0);
  std::vector<Block> blocks;
  for (std::size_t chain = 0; chain < result.chains.size(); ++chain) {
    blocks.push_back(body_of(result, chain, thin).append_to(file));
  }
  append_bytes(file, continuation);
  append_bytes(file, std::int32_t{0});  // the end of the messages
  Builder footer;
  const Table again = schema(footer, whole, floating);
  const auto all = footer.CreateVectorOfStructs(blocks.data(), blocks.size());
  footer.Finish(table(footer, [&] {
    footer.AddElement<std::int16_t>(place(0), version_5, 0);
    footer.AddOffset(place(1), again);
    footer.AddOffset(place(3), all);
  }));
  file.append(reinterpret_cast<const char*>(footer.GetBufferPointer()), footer.GetSize());
  append_bytes(file, static_cast<std::int32_t>(footer.GetSize()));
  return file.append(magic);
}

}  // namespace rehmc
