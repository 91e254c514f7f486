/** Commands whose answers may differ, and why. */
export const knownDifferences: readonly { readonly why: string; readonly commands: readonly string[] }[] = [
  {
    why: "Neutron names the functions of its process that refused, with numbers that differ at every start",
    commands: ["network rbac delete {rule}"],
  },
  {
    why: "the real cloud's hypervisor runs nothing, so that it reports a paused or suspended server as running; libvirt does not",
    commands: ["server show {p}-uno -c status -c OS-EXT-STS:power_state -c OS-EXT-STS:vm_state"],
  },
  {
    why: "the real cloud's hypervisor uploads nothing, so that images of servers remain queued and get nothing that libvirt would report",
    commands: [
      "server image create {p}-vm --name {p}-image",
      "image show {p}-image -c name -c status",
      "server backup create {p}-vm --name {p}-backup --type daily --rotate 1",
    ],
  },
  {
    why: "Glance prints the part of its schema that an id is not of, as Python prints it; this cloud gives the reason alone",
    commands: [
      "image create {p}-bad --disk-format raw --container-format bare --id nonsense",
      "image create {p}-bad --disk-format raw --container-format bare --property id=x",
    ],
  },
  {
    why: "this cloud's own services and endpoints are known by their names, not by digits",
    commands: ["catalog show compute"],
  },
  {
    why: "Nova still serves v2.0, which clients have left alone since 2015; this cloud does not",
    commands: ["all versions show --service compute"],
  },
];
