// SPDX-License-Identifier: Apache-2.0
#include "bench/stats/parquet.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace emery {
namespace {

// Numbers of parquet.thrift.
enum Type { kBoolean = 0, kInt32 = 1, kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum Encoding { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum Page { kDataPage = 0, kDictionaryPage = 2 };
constexpr int kUtf8 = 0, kUncompressed = 0;
constexpr std::string_view kMagic = "PAR1";

Type type(Parquet::Kind kind) {
  switch (kind) {
    case Parquet::Kind::kBool:
      return kBoolean;
    case Parquet::Kind::kInt32:
      return kInt32;
    case Parquet::Kind::kInt64:
      return kInt64;
    case Parquet::Kind::kDouble:
      return kDouble;
    default:
      return kByteArray;
  }
}

void put_varint(std::string& text, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  text += static_cast<char>(value);
}

template <typename T>
void put_plain(std::string& text, T value) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  text.append(bytes, sizeof value);
}

void put_bytes(std::string& text, std::string_view bytes) {
  put_plain(text, static_cast<std::uint32_t>(bytes.size()));
  text += bytes;
}

// So many bits of each value, the lowest first, to a whole byte.
std::string packed(const std::vector<std::uint32_t>& values, unsigned width) {
  std::string text;
  std::uint64_t bits = 0;
  unsigned count = 0;
  for (const std::uint32_t value : values) {
    bits |= std::uint64_t{value} << count;
    for (count += width; count >= 8; count -= 8, bits >>= 8) text += static_cast<char>(bits);
  }
  if (count != 0) text += static_cast<char>(bits);
  return text;
}

// The same as one bit-packed run of the hybrid encoding: groups of eight values.
std::string run(const std::vector<std::uint32_t>& values, unsigned width) {
  const std::size_t groups = (values.size() + 7) / 8;
  std::string text;
  put_varint(text, groups << 1 | 1);
  text += packed(values, width);
  text.resize(text.size() + groups * width - (values.size() * width + 7) / 8);
  return text;
}

unsigned width_of(const Parquet::Column& column) {
  return std::max(static_cast<unsigned>(std::bit_width(column.words.size() - 1)), 1u);
}

// Thrift's compact protocol, as far as it is used here.
class Compact {
 public:
  void begin() { last_.push_back(0); }
  void begin(int id) {
    head(id, 12);
    begin();
  }
  void end() {
    text_ += '\0';
    last_.pop_back();
  }
  void number(int id, std::int64_t value) {
    head(id, 5);
    put_number(value);
  }
  void long_number(int id, std::uint64_t value) {
    head(id, 6);
    put_number(static_cast<std::int64_t>(value));
  }
  void text(int id, std::string_view value) {
    head(id, 8);
    put_text(value);
  }
  void structs(int id, std::size_t size) { list(id, 12, size); }
  void numbers(int id, std::initializer_list<int> values) {
    list(id, 5, values.size());
    for (const int value : values) put_number(value);
  }
  void texts(int id, const std::vector<std::string>& values) {
    list(id, 8, values.size());
    for (const std::string& value : values) put_text(value);
  }
  std::string take() { return std::move(text_); }

 private:
  void head(int id, int kind) {
    text_ += static_cast<char>((id - last_.back()) << 4 | kind);  // fields are at most 15 apart
    last_.back() = id;
  }
  void list(int id, int kind, std::size_t size) {
    head(id, 9);
    text_ += static_cast<char>(0xf0 | kind);
    put_varint(text_, size);
  }
  void put_number(std::int64_t value) {
    put_varint(text_,
               static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void put_text(std::string_view value) {
    put_varint(text_, value.size());
    text_ += value;
  }

  std::string text_;
  std::vector<int> last_;
};

}  // namespace

Parquet::Parquet(std::ostream& out, std::vector<Column> columns, std::size_t rows_of_group)
    : out_(out), columns_(std::move(columns)), most_(rows_of_group), values_(columns_.size()) {
  write(kMagic);
}

void Parquet::write(std::string_view text) {
  out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  at_ += text.size();
}

void Parquet::put(std::size_t column, std::int64_t value) {
  Values& to = values_[column];
  const Kind kind = columns_[column].kind;
  if (kind == Kind::kInt64) {
    put_plain(to.plain, value);
  } else if (kind == Kind::kInt32) {
    put_plain(to.plain, static_cast<std::int32_t>(value));
  } else {
    to.small.push_back(static_cast<std::uint32_t>(value));
  }
  if (columns_[column].optional) to.there.push_back(1);
}

void Parquet::put(std::size_t column, double value) {
  put_plain(values_[column].plain, value);
  if (columns_[column].optional) values_[column].there.push_back(1);
}

void Parquet::put(std::size_t column, std::span<const std::uint8_t> bytes) {
  put_bytes(values_[column].plain, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (columns_[column].optional) values_[column].there.push_back(1);
}

void Parquet::put_null(std::size_t column) { values_[column].there.push_back(0); }

void Parquet::end_row() {
  ++all_rows_;
  if (++rows_ == most_) write_group();
}

void Parquet::write_page(const std::string& content, std::size_t values, int encoding,
                         bool dictionary) {
  Compact header;
  header.begin();
  header.number(1, dictionary ? kDictionaryPage : kDataPage);
  header.number(2, static_cast<std::int64_t>(content.size()));
  header.number(3, static_cast<std::int64_t>(content.size()));
  header.begin(dictionary ? 7 : 5);
  header.number(1, static_cast<std::int64_t>(values));
  header.number(2, encoding);
  if (!dictionary) {
    header.number(3, kRle);
    header.number(4, kRle);
  }
  header.end();
  header.end();
  write(header.take());
  write(content);
}

void Parquet::write_group() {
  Group& group = groups_.emplace_back(Group{rows_, {}});
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    Values& values = values_[c];
    Chunk chunk;
    const std::uint64_t begin = at_;
    if (column.kind == Kind::kWord) {
      std::string words;
      for (const std::string& word : column.words) put_bytes(words, word);
      chunk.dictionary = at_;
      write_page(words, column.words.size(), kPlain, true);
    }
    std::string page;
    if (column.optional) put_bytes(page, run(values.there, 1));
    if (column.kind == Kind::kWord) {
      page += static_cast<char>(width_of(column));
      page += run(values.small, width_of(column));
    } else {
      page += column.kind == Kind::kBool ? packed(values.small, 1) : values.plain;
    }
    chunk.data = at_;
    write_page(page, rows_, column.kind == Kind::kWord ? kRleDictionary : kPlain, false);
    chunk.size = at_ - begin;
    group.chunks.push_back(chunk);
    values.plain.clear();
    values.small.clear();
    values.there.clear();
  }
  rows_ = 0;
}

std::string Parquet::footer() const {
  Compact meta;
  meta.begin();
  meta.number(1, 2);
  const auto grouped = [&](std::size_t c) {  // so many columns from c on are a group
    std::size_t end = c;
    while (end < columns_.size() && columns_[end].group == columns_[c].group) ++end;
    return end - c;
  };
  std::size_t top = 0, all = 1;
  for (std::size_t c = 0; c < columns_.size(); ++top) {
    const std::size_t width = columns_[c].group.empty() ? 1 : grouped(c);
    all += width + !columns_[c].group.empty();
    c += width;
  }
  meta.structs(2, all);
  meta.begin();
  meta.text(4, "schema");
  meta.number(5, static_cast<std::int64_t>(top));
  meta.end();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    if (!column.group.empty() && (c == 0 || columns_[c - 1].group != column.group)) {
      meta.begin();
      meta.number(3, 0);
      meta.text(4, column.group);
      meta.number(5, static_cast<std::int64_t>(grouped(c)));
      meta.end();
    }
    meta.begin();
    meta.number(1, type(column.kind));
    meta.number(3, column.optional);
    meta.text(4, column.name);
    if (column.kind == Kind::kWord) meta.number(6, kUtf8);
    meta.end();
  }
  meta.long_number(3, all_rows_);
  meta.structs(4, groups_.size());
  for (const Group& group : groups_) {
    std::uint64_t size = 0;
    meta.begin();
    meta.structs(1, group.chunks.size());
    for (std::size_t c = 0; c < group.chunks.size(); ++c) {
      const Column& column = columns_[c];
      const Chunk& chunk = group.chunks[c];
      size += chunk.size;
      meta.begin();
      meta.long_number(2, 0);
      meta.begin(3);
      meta.number(1, type(column.kind));
      const bool word = column.kind == Kind::kWord;
      word ? meta.numbers(2, {kPlain, kRle, kRleDictionary}) : meta.numbers(2, {kPlain, kRle});
      std::vector<std::string> path{column.name};
      if (!column.group.empty()) path.insert(path.begin(), column.group);
      meta.texts(3, path);
      meta.number(4, kUncompressed);
      meta.long_number(5, group.rows);
      meta.long_number(6, chunk.size);
      meta.long_number(7, chunk.size);
      meta.long_number(9, chunk.data);
      if (word) meta.long_number(11, chunk.dictionary);
      meta.end();
      meta.end();
    }
    meta.long_number(2, size);
    meta.long_number(3, group.rows);
    meta.end();
  }
  meta.text(6, "emery");
  meta.end();
  return meta.take();
}

void Parquet::close() {
  if (rows_ != 0) write_group();
  std::string end = footer();
  const auto size = static_cast<std::uint32_t>(end.size());
  put_plain(end, size);
  end += kMagic;
  write(end);
}

}  // namespace emery
