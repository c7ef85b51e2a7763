#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The guest's first process: the card up, then the command, whose output and status go to the folder that the kernel runs in
# ($lane, $guest: words of the kernel's command line). In QEMU there is no such folder: a serial line for each of its files.
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t debugfs debugfs /sys/kernel/debug
exec >/dev/kmsg 2>&1
if [ "$lane" = qemu ]; then
  n=1
  for name in out err status; do
    [ "$guest" = 0 ] || name=said$guest
    stty -F /dev/ttyS$n raw -echo
    [ -e /host/$name ] || ln -s /dev/ttyS$n /host/$name
    n=$((n + 1))
  done
else
  mount -t hostfs -o sync,/proc/self/cwd none /host
fi
insmod /card.ko
ip link set lo up
if [ -e /sys/class/net/eth0 ]; then
  ip addr add "10.0.0.$((guest + 1))/24" dev eth0
  ip link set eth0 up
else
  sleep 0.01 # timers shorter than the kernel's tick work from the first one on
fi
cd /root
if [ "$guest" != 0 ]; then
  nc -ll -p 7 -e cat & # TCP echo
  iperf3 -s &
  [ ! -e "/host/peer$guest" ] || sh "/host/peer$guest" </dev/null >"/host/said$guest" 2>&1 &
  until grep -q :0007 /proc/net/tcp /proc/net/tcp6; do sleep 0.001; done
fi
: >"/host/up$guest"
if [ "$guest" = 0 ]; then
  if [ "$lane" = qemu ]; then
    n=1
    while [ $n -lt "$guests" ]; do
      n=$((n + 1))
      until nc "10.0.0.$n" 7 </dev/null; do sleep 0.1; done
    done
  else
    while [ "$(ls /host/up* | wc -l)" -lt "$guests" ]; do sleep 0.001; done
  fi
  if [ -n "$terminal" ]; then
    setsid -c sh -c "stty rows ${terminal%x*} cols ${terminal#*x}; exec sh -l" </dev/tty0 >/dev/tty0 2>&1
  else
    sh /host/command </dev/null >/host/out 2>/host/err
  fi
  echo $? >/host/status
  dmesg >/host/dmesg
  poweroff -f
fi
while :; do sleep 1000; done
