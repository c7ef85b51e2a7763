// SPDX-License-Identifier: Apache-2.0
// The device's clock: what a PTP servo reads and turns.
#include "clock.h"

#include "device.h"

uint64_t emnic_clock_read(struct emnic* d, uint32_t* fraction) {
  const uint32_t low = reg_read(d, DEVICE_REG(ptp_time_lo));  // which holds the others
  const uint64_t high = reg_read(d, DEVICE_REG(ptp_time_hi));
  if (fraction) *fraction = reg_read(d, DEVICE_REG(ptp_time_fraction));
  return high << 32 | low;
}

uint64_t emnic_time_ns(struct emnic* d) { return emnic_clock_read(d, NULL); }

void emnic_clock_set(struct emnic* d, uint64_t ns) {
  reg_write(d, DEVICE_REG(ptp_value_lo), (uint32_t)ns);
  reg_write(d, DEVICE_REG(ptp_value_hi), (uint32_t)(ns >> 32) & 0xffff);
  reg_write(d, DEVICE_REG(ptp_command), NIC_DEVICE_REGS__PTP_COMMAND__SET_bm);
}

int emnic_clock_step(struct emnic* d, int64_t ns) {
  if (ns < INT32_MIN || ns > INT32_MAX) return EMNIC_UNSUPPORTED;
  reg_write(d, DEVICE_REG(ptp_value_lo), (uint32_t)ns);
  reg_write(d, DEVICE_REG(ptp_command), NIC_DEVICE_REGS__PTP_COMMAND__STEP_bm);
  return 0;
}

uint32_t emnic_core_khz(struct emnic* d) {
  if (d->core_khz == 0) {
    const uint32_t khz = reg_read(d, DEVICE_REG(core_khz));
    if (khz != GONE) d->core_khz = khz;
  }
  return d->core_khz != 0 ? d->core_khz : 1;
}

// The register counts in ns * 2^-32 a core clock, which is of 10^6 / core_khz ns.
void emnic_clock_adjust(struct emnic* d, int64_t rate) {
  const int64_t most = (int64_t)1 << 37;  // an eighth: no device's clock goes further
  if (rate > most) rate = most;
  if (rate < -most) rate = -most;
  const int64_t khz = emnic_core_khz(d);
  if (d->core_khz == 0) return;
  int64_t units = rate * 15625 / (4 * khz);  // 10^6 / 256
  if (units > INT32_MAX) units = INT32_MAX;
  if (units < INT32_MIN) units = INT32_MIN;
  reg_write(d, DEVICE_REG(ptp_adjust), (uint32_t)units);
}

void emnic_clock_output(struct emnic* d, uint64_t start, uint32_t half_ns) {
  reg_write(d, DEVICE_REG(ptp_out), 0);
  if (half_ns == 0) return;
  reg_write(d, DEVICE_REG(ptp_out_start_lo), (uint32_t)start);
  reg_write(d, DEVICE_REG(ptp_out_start_hi), (uint32_t)(start >> 32) & 0xffff);
  reg_write(d, DEVICE_REG(ptp_out_half), half_ns);
  reg_write(d, DEVICE_REG(ptp_out), NIC_DEVICE_REGS__PTP_OUT__RUN_bm);
}
