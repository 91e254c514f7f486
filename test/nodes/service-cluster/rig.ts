import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { loadKubeconfig } from "@causeway/kubernetes";
import { parseAllDocuments } from "yaml";
import { CAUSEWAY_IMAGE } from "../../../scripts/node/service-images.ts";
import { eventually, root } from "../../support/processes.ts";
import { NAME, startRig, type Rig } from "../rig.ts";

const TIMEOUT = 20 * 60_000;
const DRIVER = "cinder.csi.openstack.org";
const NODES = 3;
/** What a member of etcd says of itself, without a certificate. */
const METRICS_PORT = 2381;

/** A cluster of real nodes in which the operator of deploy/ runs control planes as pods. */
export interface ServiceRig extends Rig {
  /** An object of the service cluster; undefined: it has none of that name. */
  find<T>(...args: readonly string[]): T | undefined;
  /** The pods of a namespace. */
  pods(namespace: string): readonly PodView[];
  /** The namespace of a control plane's pods, or of the etcd that all share. */
  namespaceOf(id: string): string;
  /** The pod that leads the etcd in this namespace; `without`: one that is left out. */
  leader(namespace: string, without?: PodView): PodView;
  /** The node at which clients come in. */
  readonly entrance: { readonly node: string; readonly address: string };
  /** The ID of the server that is a pod's node. */
  serverOf(pod: PodView): string;
  /** Kills the program of a pod by SIGKILL. */
  kill(namespace: string, pod: PodView): void;
  /**
   * A server loses its power: from one moment on no packet leaves it or comes in, no connection is ended, and all
   * programs of its pods are killed. Returns what lets packets through again, once it is to be started.
   */
  cutPower(server: string): () => void;
}

export interface PodView {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly phase: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly containerID?: string }[];
  };
}

export const componentOf = ({ metadata }: PodView): string => metadata.labels["app.kubernetes.io/component"] ?? "";
export const isReady = ({ metadata, status }: PodView): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status.conditions ?? []).some(({ type, status: value }) => type === "Ready" && value === "True");

/**
 * Brings up three nodes with volumes, and the operator from the manifests in deploy/ with the image made here. The pod
 * network is the overlay: members of etcd compare the address of a peer with its certificate, and with routes pods come
 * from the address of their node.
 */
export async function startServiceRig(): Promise<ServiceRig> {
  const rig = await startRig({ replicas: NODES, flavor: "m1.large", overlay: true });
  try {
    rig.manage({
      apiVersion: "addons.causeway.dev/v1alpha1",
      kind: "AddonSet",
      metadata: { namespace: "default", name: `${NAME}-volumes` },
      spec: {
        clusterName: NAME,
        addons: [{ name: "cinder", catalogue: { name: "CinderCSINode", image: CAUSEWAY_IMAGE } }],
      },
    });
    for (const kind of [Cluster, HostedControlPlane]) rig.apply(toCustomResourceDefinition(kind as typeof Cluster));
    for (const file of ["rbac", "deployment"]) for (const object of manifests(file)) rig.apply(object);
    await eventually(TIMEOUT, () => withDriver(rig) === NODES);
    const tools = toolsOf(rig);
    return { ...rig, ...tools, ...connect(tools, rig) };
  } catch (error) {
    await rig.close();
    throw error;
  }
}

/** Those of deploy/; the operator permits moves to etcds of tenants' own. */
function manifests(file: string): readonly object[] {
  const text = readFileSync(join(root, `deploy/hosted-control-plane/${file}.yaml`), "utf8");
  const flag = "            - --leader-elect-namespace=causeway-system\n";
  const permitting = text.replace(flag, `${flag}            - --datastore-moves\n`);
  return parseAllDocuments(permitting).map((document) => document.toJS() as object);
}

/** Nodes whose kubelet has the driver of volumes. */
function withDriver(rig: Rig): number {
  const { items } = JSON.parse(rig.workload("get", "csinodes", "-o", "json")) as {
    readonly items: readonly { readonly spec: { readonly drivers?: readonly { readonly name: string }[] | null } }[];
  };
  return items.filter(({ spec }) => spec.drivers?.some(({ name }) => name === DRIVER)).length;
}

function toolsOf(rig: Rig): Omit<ServiceRig, keyof Rig | "entrance"> {
  const find = <T>(...args: readonly string[]): T | undefined => {
    const text = rig.workload("get", ...args, "--ignore-not-found", "-o", "json");
    return text === "" ? undefined : (JSON.parse(text) as T);
  };
  const pods = (namespace: string) =>
    find<{ readonly items: readonly PodView[] }>("pods", "-n", namespace)?.items ?? [];
  const inNetwork = (pod: PodView, ...command: readonly string[]): string =>
    execFileSync("nsenter", [`--net=/run/netns/vm-${serverOf(rig, pod)}`, ...command], { encoding: "utf8" });
  return {
    find,
    pods,
    namespaceOf(id) {
      const { items } = find<NamespaceList>("namespaces") ?? { items: [] };
      const found = items.find(({ metadata }) => metadata.annotations?.["controlplane.causeway.dev/id"] === id);
      if (found === undefined) throw new Error(`no namespace of ${id}`);
      return found.metadata.name;
    },
    leader(namespace, without) {
      const members = pods(namespace).filter(
        (pod) => componentOf(pod) === "etcd" && isReady(pod) && pod.metadata.uid !== without?.metadata.uid,
      );
      const leads = (pod: PodView) =>
        inNetwork(
          pod,
          "curl",
          "-sS",
          "--fail",
          "--max-time",
          "5",
          `http://${pod.status.podIP}:${METRICS_PORT}/metrics`,
        ).includes("\netcd_server_is_leader 1\n");
      const found = members.find(leads);
      if (found === undefined) throw new Error(`no member of etcd in ${namespace} leads`);
      return found;
    },
    serverOf: (pod) => serverOf(rig, pod),
    kill(namespace, pod) {
      const [id = ""] = (pod.status.containerStatuses ?? []).map(({ containerID = "" }) => containerID.split("//")[1]);
      const pids = pidsOf(id);
      if (pids.length === 0) throw new Error(`${namespace}/${pod.metadata.name} has no process`);
      for (const pid of pids) process.kill(pid, "SIGKILL");
    },
    cutPower(server) {
      const rules = (what: "-I" | "-D"): void => {
        for (const chain of ["INPUT", "FORWARD", "OUTPUT"])
          execFileSync("ip", ["netns", "exec", `vm-${server}`, "iptables", "-w", what, chain, "-j", "DROP"]);
      };
      rules("-I");
      // Once more for those that were started meanwhile.
      for (let round = 0; round < 3; round += 1) for (const pid of processesBelow(join(MACHINES, server))) killed(pid);
      return () => rules("-D");
    },
  };
}

const MACHINES = "/sys/fs/cgroup/memory/causeway-machines";

/** One that has ended by itself meanwhile is no matter. */
function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly providerID?: string; readonly podCIDR?: string };
    readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
  }[];
}

const HOST = "169.254.77.1";

/**
 * Makes a network of its own between this host and the nodes, at the nodes' addresses: node ports can be reached, which
 * the cluster's router would answer with another address, and pods of other nodes do not depend on the devcloud's
 * switch, which ends every minute under the connections of control planes, and takes flannel's device along.
 */
function connect({ find }: Pick<ServiceRig, "find">, rig: Rig): Pick<ServiceRig, "entrance" | "close"> {
  const nodes = (find<NodeList>("nodes")?.items ?? []).map(({ metadata, spec, status }, i) => ({
    name: metadata.name,
    address: status.addresses.find(({ type }) => type === "InternalIP")?.address ?? "",
    server: spec.providerID?.split("/").at(-1) ?? "",
    podCidr: spec.podCIDR ?? "",
    gateway: `169.254.77.${i + 2}`,
  }));
  const [entrance] = nodes;
  if (entrance === undefined) throw new Error("there are no nodes");
  const bridge = `cw${entrance.server.slice(0, 8)}`;
  const api = new URL(loadKubeconfig({ path: rig.kubeconfig }).server).hostname;
  const ip = (...args: readonly string[]) => execFileSync("ip", args, { stdio: ["ignore", "ignore", "inherit"] });
  ip("link", "add", bridge, "type", "bridge");
  ip("address", "add", `${HOST}/24`, "dev", bridge);
  ip("link", "set", bridge, "up");
  for (const node of nodes) {
    const [port, inside] = [`cx${node.server.slice(0, 8)}`, ["-n", `vm-${node.server}`]];
    ip("link", "add", port, "type", "veth", "peer", "name", "direct", "netns", `vm-${node.server}`);
    ip("link", "set", port, "master", bridge, "up");
    // The node's own address, too: the kernel forgets routes whose source has gone, as with a new device of the switch.
    for (const address of [`${node.gateway}/24`, `${node.address}/32`])
      ip(...inside, "address", "add", address, "dev", "direct");
    ip(...inside, "link", "set", "direct", "up");
    ip("route", "replace", `${node.address}/32`, "via", node.gateway, "dev", bridge);
    ip(...inside, "route", "replace", `${api}/32`, "via", HOST, "dev", "direct", "src", node.address);
    for (const other of nodes.filter((each) => each !== node)) {
      const way = ["via", other.gateway, "dev", "direct"];
      ip(...inside, "route", "replace", `${other.address}/32`, ...way, "src", node.address);
      for (const half of halves(other.podCidr)) ip(...inside, "route", "replace", half, ...way);
    }
  }
  const close = async (): Promise<void> => {
    spawnSync("ip", ["link", "delete", bridge]);
    await rig.close();
  };
  return { entrance: { node: entrance.name, address: entrance.address }, close };
}

/** Both halves of a network of 256 addresses: routes to them go before the overlay's route to the whole. */
function halves(cidr: string): readonly string[] {
  const [, prefix] = /^(\d+\.\d+\.\d+)\.0\/24$/.exec(cidr) ?? [];
  if (prefix === undefined) throw new Error(`a node has the pod network "${cidr}"`);
  return [`${prefix}.0/25`, `${prefix}.128/25`];
}

interface NamespaceList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  }[];
}

function serverOf(rig: Rig, { metadata, spec }: PodView): string {
  const providerID = rig.workload("get", "node", spec.nodeName ?? "", "-o", "jsonpath={.spec.providerID}");
  const id = providerID.split("/").at(-1) ?? "";
  if (id === "") throw new Error(`the node of ${metadata.name} has no server`);
  return id;
}

/** The processes of a container, by their numbers on this host. */
const pidsOf = (container: string): readonly number[] =>
  /^[0-9a-f]{64}$/.test(container) ? processesBelow(MACHINES, `*${container}*`) : [];

/** The processes of a cgroup and of those below it whose paths match. A cgroup may go while they are read. */
function processesBelow(cgroup: string, paths = "*"): readonly number[] {
  const script = 'find "$1" -path "$2" -name cgroup.procs -exec cat {} + 2>/dev/null || :';
  const found = execFileSync("sh", ["-c", script, "sh", cgroup, paths], { encoding: "utf8" });
  return found.split("\n").flatMap((line) => (line === "" ? [] : [Number(line)]));
}
