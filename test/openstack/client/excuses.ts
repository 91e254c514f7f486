/** Commands whose answers may differ, and why. */
export const excuses: readonly { readonly why: string; readonly commands: readonly string[] }[] = [
  {
    why: "Neutron names the functions of its process that refused, with numbers that differ at every start",
    commands: ["network rbac delete {rule}"],
  },
  {
    why: "the real cloud's hypervisor runs nothing, so that it tells a paused or suspended server as running; libvirt does not",
    commands: ["server show {p}-uno -c status -c OS-EXT-STS:power_state -c OS-EXT-STS:vm_state"],
  },
];
