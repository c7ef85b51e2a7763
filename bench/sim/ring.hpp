// SPDX-License-Identifier: Apache-2.0
// A queue in one array that doubles when it is full: nothing is allocated in the steady state.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace emery {

template <class T>
class Ring {
 public:
  explicit Ring(std::size_t capacity = 16) : items_(capacity) {}  // a power of two

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  T& front() { return items_[head_ & (items_.size() - 1)]; }
  const T& front() const { return items_[head_ & (items_.size() - 1)]; }
  T& back() { return items_[(tail_ - 1) & (items_.size() - 1)]; }
  T& operator[](std::size_t i) { return items_[(head_ + i) & (items_.size() - 1)]; }

  void push(T item) {
    if (size() == items_.size()) grow();
    items_[tail_++ & (items_.size() - 1)] = std::move(item);
  }
  void pop() { ++head_; }
  void clear() { head_ = tail_ = 0; }

  // Puts the item behind the last one that is not `later(item, that)`: cheap when it belongs near
  // the back.
  template <class Later>
  void insert_sorted(T item, Later later) {
    push(std::move(item));
    for (std::size_t i = size() - 1; i > 0 && later((*this)[i - 1], (*this)[i]); --i) {
      std::swap((*this)[i - 1], (*this)[i]);
    }
  }

 private:
  void grow() {
    std::vector<T> larger(2 * items_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = std::move((*this)[i]);
    items_ = std::move(larger);
    head_ = 0;
    tail_ = count;
  }

  std::vector<T> items_;
  std::size_t head_ = 0, tail_ = 0;
};

}  // namespace emery
