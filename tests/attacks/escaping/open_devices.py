"""Open the devices through which a machine can be taken: memory, disks, virtual machines, file systems, network, GPUs.

Must fail: none is in the box's `/dev`.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

NAMES = """mem kmem port kmsg kvm fuse cuse loop-control loop0 sda sda1 vda vda1 nvme0 nvme0n1 dm-0 mapper/control net/tun vhost-net
vhost-vsock vsock uinput input/event0 snapshot hpet rtc0 watchdog btrfs-control ppp vfio/vfio nvidia0 nvidiactl nvidia-uvm
nvidia-modeset dri/card0 dri/renderD128 kfd tty0 tty1 ttyS0 console vcs mei0 ipmi0 cpu/0/msr udmabuf sgx_enclave""".split()
for name in NAMES:
    for flags in (os.O_RDWR, os.O_RDONLY, os.O_WRONLY):
        try:
            os.close(os.open(f"/dev/{name}", flags | os.O_NONBLOCK | os.O_NOCTTY))
            print("ESCAPED opened", name)
        except OSError:
            pass
print("held")
