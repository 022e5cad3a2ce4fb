# The first wall: what firejail takes away from a zygote before it builds its own, smaller room inside.
# Capabilities that remain are those the zygote needs to make boxes; a box itself has none.
caps.keep sys_admin,sys_chroot,setuid,setgid,kill,sys_resource,setpcap,chown,dac_override
nonewprivs
net none
ipc-namespace
private-dev
private-tmp
disable-mnt
blacklist /home
blacklist /var
blacklist /boot
blacklist /srv
blacklist /opt
dbus-user none
dbus-system none
seccomp.drop @clock,@cpu-emulation,@debug,@module,@obsolete,@raw-io,@reboot,@swap,socket,keyctl,add_key,request_key,bpf,perf_event_open,userfaultfd,io_uring_setup
