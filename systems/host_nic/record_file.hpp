// SPDX-License-Identifier: Apache-2.0
// The records of received frames as a table, beside the capture of the frames: host.csv.
#pragma once

#include <fstream>
#include <string>

#include "queue_formats.hpp"
#include "systems/host_nic/driver.hpp"

namespace emery::host_nic {

class RecordFile {
 public:
  explicit RecordFile(const std::string& path) : file_(path) {
    file_ << "timestamp_ns,interface,port,queue,hash,hash_type,csum,bytes,tag,tci,headers\n";
  }
  void write(const Received& r, unsigned port) {
    file_ << r.timestamp << ',' << r.interface << ',' << port << ',' << r.queue << ',' << r.hash
          << ',' << unsigned{queue_pkg::rx_flags_t{r.flags}.hash_type()} << ',' << r.csum << ','
          << r.frame.size() << ',' << r.tag << ',' << r.tci << ',' << r.headers << '\n';
  }

 private:
  std::ofstream file_;
};

}  // namespace emery::host_nic
