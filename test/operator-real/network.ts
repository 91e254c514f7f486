/** The network of the rig's machines: a bridge of the host, and a namespace for each machine. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DNS_ADDRESS } from "./facts.ts";

/** Own ranges: other clusters may run on this host. */
export const HOST = "10.211.0.1";
const BRIDGE = "cwos0";
const NAMESPACE = "cw-openstack-";
/** Rigs that run at once, each with a network and a `/run/netns` of its own, differ in this alone. */
export const RIG_CGROUP = process.env["CAUSEWAY_OPERATOR_CGROUP"] ?? "causeway-openstack";

export interface Place {
  readonly number: number;
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  /** Addresses of its pods. */
  readonly pods: string;
  readonly cgroup: string;
}

/** Where the machine with this number is; the first one is 1. */
export const placeOf = (number: number): Place => ({
  number,
  name: `openstack-${number}`,
  namespace: `${NAMESPACE}${number}`,
  address: `10.211.0.${number + 1}`,
  pods: `10.212.${number - 1}.0/24`,
  cgroup: `/${RIG_CGROUP}/${number}`,
});

const ip = (...args: string[]) => execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });

/** Watches of files: each containerd and kubelet needs some, and Linux gives all processes of root 128 by default. */
const WATCHERS = "/proc/sys/fs/inotify/max_user_instances";

/** As Kubernetes' installers do on a node. */
export function allowWatchers(wanted = 1024): void {
  if (Number(readFileSync(WATCHERS, "utf8")) < wanted) writeFileSync(WATCHERS, String(wanted));
}

/** Makes the network; each machine knows the way to the pods of the others. */
export function makeNetwork(places: readonly Place[]): void {
  removeNetwork();
  ip("link", "add", BRIDGE, "type", "bridge");
  ip("address", "add", `${HOST}/24`, "dev", BRIDGE);
  ip("link", "set", BRIDGE, "up");
  for (const place of places) addMachine(place);
  for (const { namespace, number } of places)
    for (const other of places.filter((each) => each.number !== number))
      ip("-n", namespace, "route", "add", other.pods, "via", other.address);
}

function addMachine({ namespace, number, address }: Place): void {
  const link = `cwos-${number}`;
  ip("netns", "add", namespace);
  ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", namespace);
  ip("link", "set", link, "master", BRIDGE, "up");
  ip("-n", namespace, "address", "add", `${address}/24`, "dev", "eth0");
  for (const name of ["lo", "eth0"]) ip("-n", namespace, "link", "set", name, "up");
  ip("-n", namespace, "route", "add", "default", "via", HOST);
  // `ip netns exec` mounts this over the host's own: programs in there look up names of the cluster.
  mkdirSync(`/etc/netns/${namespace}`, { recursive: true });
  const lookup = [`nameserver ${DNS_ADDRESS}`, "search svc.cluster.local cluster.local", "options ndots:5", ""];
  writeFileSync(`/etc/netns/${namespace}/resolv.conf`, lookup.join("\n"));
  // kube-proxy and the bridge of pods forward.
  execFileSync("ip", ["netns", "exec", namespace, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1"]);
}

/** Removes it, and what an earlier run left. */
export function removeNetwork(): void {
  const { stdout } = spawnSync("ip", ["netns", "list"], { encoding: "utf8" });
  for (const [name] of stdout.matchAll(new RegExp(`^${NAMESPACE}\\d+`, "gm"))) {
    spawnSync("ip", ["netns", "delete", name], { stdio: "ignore" });
    rmSync(`/etc/netns/${name}`, { recursive: true, force: true });
  }
  spawnSync("ip", ["link", "delete", BRIDGE], { stdio: "ignore" });
}
