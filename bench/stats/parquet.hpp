// SPDX-License-Identifier: Apache-2.0
// A table as an Apache Parquet file (format 2, https://parquet.apache.org/docs/file-format): rows
// go in one after the other and out as groups of columns. Numbers and bytes are PLAIN, words of a
// known list are a dictionary; nothing is compressed, no column is nested deeper than one group.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emery {

class Parquet {
 public:
  enum class Kind { kBool, kInt32, kInt64, kDouble, kBytes, kWord };

  struct Column {
    std::string name;
    Kind kind;
    bool optional = false;                // may be null
    std::vector<std::string> words = {};  // of kWord
    std::string group = {};  // the field it is a part of; those of a group follow each other
  };

  Parquet(std::ostream& out, std::vector<Column> columns, std::size_t rows_of_group = 1 << 16);

  // ---- a row: each column once, in any order

  void put(std::size_t column, std::int64_t value);  // kBool, kInt32, kInt64; kWord: its place
  void put(std::size_t column, double value);
  void put(std::size_t column, std::span<const std::uint8_t> bytes);
  void put_null(std::size_t column);
  void end_row();

  /// Writes what is left. The stream says whether all went well.
  void close();

 private:
  struct Values {
    std::string plain;
    std::vector<std::uint32_t> small;  // truth values, places of words
    std::vector<std::uint32_t> there;  // of an optional column: 1, or 0 for null
  };
  struct Chunk {
    std::uint64_t dictionary = 0, data = 0, size = 0;  // places in the file, bytes
  };
  struct Group {
    std::size_t rows;
    std::vector<Chunk> chunks;
  };

  void write(std::string_view text);
  void write_page(const std::string& content, std::size_t values, int encoding, bool dictionary);
  void write_group();
  std::string footer() const;

  std::ostream& out_;
  std::vector<Column> columns_;
  std::size_t most_;
  std::vector<Values> values_;
  std::vector<Group> groups_;
  std::size_t rows_ = 0, all_rows_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace emery
