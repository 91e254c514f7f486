/** A cloud with all services that the images have, on one machine, and a project in it. */
import { clientOf, type Account, type Client } from "./client.ts";
import { deployment } from "./cloud.ts";
import { TIMEOUT, type Rig } from "./rig.ts";
import { eventually } from "../support/processes.ts";

const SERVICES = ["glance", "placement", "barbican", "ovn", "neutron", "nova", "cinder", "heat", "octavia"] as const;
type Option = { readonly section: string; readonly option: string; readonly value: string };
/** Servers are network namespaces, volumes files. */
const OPTIONS: Readonly<Record<string, readonly Option[]>> = {
  nova: [
    { section: "DEFAULT", option: "compute_driver", value: "devcloud_compute.NetnsDriver" },
    { section: "DEFAULT", option: "vif_plugging_is_fatal", value: "false" },
    { section: "DEFAULT", option: "vif_plugging_timeout", value: "0" },
    { section: "conductor", option: "workers", value: "1" },
    { section: "scheduler", option: "workers", value: "1" },
  ],
  cinder: [
    { section: "lvm", option: "volume_driver", value: "cinder.volume.drivers.files.FileDriver" },
    { section: "DEFAULT", option: "backup_driver", value: "cinder.backup.drivers.posix.PosixBackupDriver" },
    { section: "DEFAULT", option: "backup_posix_path", value: "/var/lib/cinder/backup" },
  ],
};

/** The network outside of the cloud: the machine is its router. */
export const OUTSIDE = { network: "public", bridge: "br-ex", cidr: "172.24.4.0/24", router: "172.24.4.1" } as const;

export function serviceCloud(
  more: Record<string, unknown> = {},
  wanted: readonly (typeof SERVICES)[number][] = SERVICES,
): object {
  const { spec } = deployment(wanted) as { spec: { services: { name: string }[] } };
  const services = spec.services.map((each) =>
    OPTIONS[each.name] ? { ...each, configuration: OPTIONS[each.name] } : each,
  );
  const nodeGroups = [
    {
      name: "all",
      nodeSelector: { role: "all" },
      roles: ["Control", "Compute", "Network"],
      physicalNetworks: [{ name: OUTSIDE.network, bridge: OUTSIDE.bridge }],
    },
  ];
  return deployment(wanted, { services, nodeGroups, ...more });
}

/** A project with a user who may use everything. */
export const PROJECT: Account = { user: "person", project: "work", password: "rig-password" };
export const ROLES = ["member", "reader", "creator", "heat_stack_owner", "load-balancer_member"];

/** The project, what every cloud has for its users, and the way out. */
export async function makeProject(rig: Rig, admin: Client, roles: readonly string[] = ROLES): Promise<void> {
  await admin.run("project", "create", PROJECT.project);
  await admin.run("user", "create", "--password", PROJECT.password, PROJECT.user);
  for (const role of roles) await admin.run("role", "add", "--project", PROJECT.project, "--user", PROJECT.user, role);
  await admin.run("flavor", "create", "--ram", "2048", "--disk", "20", "--vcpus", "1", "m1.small");
  await admin.write("/tmp/disk", "a disk");
  await admin.run("image", "create", "--public", "--disk-format", "raw", "--file", "/tmp/disk", "cirros");
  const provider = ["--provider-network-type", "flat", "--provider-physical-network", OUTSIDE.network];
  await admin.run("network", "create", "--external", ...provider, OUTSIDE.network);
  const range = ["--subnet-range", OUTSIDE.cidr, "--gateway", OUTSIDE.router, "--no-dhcp"];
  const pool = ["--allocation-pool", "start=172.24.4.10,end=172.24.4.250"];
  await admin.run("subnet", "create", "--network", OUTSIDE.network, ...range, ...pool, "outside");
  await rig.inNetwork("ip", "link", "set", OUTSIDE.bridge, "up");
  await rig.inNetwork("ip", "address", "replace", `${OUTSIDE.router}/24`, "dev", OUTSIDE.bridge);
  // Servers can be scheduled once Nova's scheduler has heard of the node.
  await eventually(TIMEOUT, async () => {
    const services = await admin.ask<{ Binary: string; State: string }[]>("compute", "service", "list");
    return services.some(({ Binary, State }) => Binary === "nova-compute" && State === "up");
  });
  await clientOf(rig, PROJECT).run("token", "issue");
}
