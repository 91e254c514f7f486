import {
  getCondition,
  isTrue,
  type Condition,
  type DaemonSet,
  type Deployment,
  type Node,
  type Service,
} from "@causeway/kubernetes";
import type {
  AddonSet,
  Cluster,
  HostedControlPlane,
  Machine,
  MachineDeployment,
  OpenStackCluster,
  OpenStackMachine,
} from "@causeway/api";

/** Which a kubelet registers its Node with, until the cloud controller knows the Node. */
const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";

/** What the caches hold of the demo. */
export interface DemoWorld {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly cluster: Cluster | undefined;
  readonly infrastructure: OpenStackCluster | undefined;
  readonly controlPlane: HostedControlPlane | undefined;
  readonly deployment: MachineDeployment | undefined;
  readonly machines: readonly Machine[];
  readonly servers: readonly OpenStackMachine[];
  readonly nodes: readonly Node[];
  readonly service: Service | undefined;
  /** The web application behind the Service. */
  readonly application: Deployment | undefined;
  readonly addons: AddonSet | undefined;
  /** The DaemonSet of kube-proxy; undefined before it is installed, and once a person has deleted it. */
  readonly proxies: DaemonSet | undefined;
}

/** One line of the display. */
export interface Item {
  readonly title: string;
  readonly done: boolean;
  /** What is under way, in a few words. */
  readonly detail: string;
  /** Why it will not continue by itself. */
  readonly problem?: string;
}

/** Everything that the display shows. */
export interface DemoView {
  /** False once the cluster was deleted. */
  readonly exists: boolean;
  readonly network: Item;
  readonly router: Item;
  readonly securityGroups: Item;
  readonly endpoint: Item;
  readonly machines: readonly Item[];
  readonly wanted: number;
  readonly loadBalancer: Item;
  readonly application: Item;
  readonly addon: Item;
  /** The address of the Service's load balancer. */
  readonly address: string | undefined;
  readonly ready: boolean;
}

/** Reasons of conditions that only a user can clear. */
const lasting = new Set([
  "InvalidMachineSpec",
  "InvalidClusterSpec",
  "OpenStackAuthenticationFailed",
  "AuthenticationFailed",
  "QuotaExceeded",
  "OverlappingCIDR",
  "InvalidCIDR",
  "InvalidIdentity",
  "InstanceStateError",
  "Failed",
]);

/** Ready once every part is done and all machines that are wanted have joined. */
export function viewOf(world: DemoWorld): DemoView {
  const { infrastructure, deployment } = world;
  const parts = conditionsOf(infrastructure);
  const problem = problemOf(parts);
  const wanted = deployment?.spec.replicas ?? 0;
  const machines = [...world.machines]
    .sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))
    .map((machine) => machineItem(machine, world));
  const address = world.service?.status?.loadBalancer?.ingress?.[0]?.ip;
  const endpoint = endpointItem(world);
  const items = {
    network: partItem("network", getCondition(parts, "NetworkReady"), problem),
    router: partItem("router", getCondition(parts, "RouterReady"), problem),
    securityGroups: partItem("security groups", getCondition(parts, "SecurityGroupsReady"), problem),
    endpoint,
    loadBalancer: { title: "load balancer", done: address !== undefined, detail: address ?? "waiting" },
    application: applicationItem(world, address),
    addon: addonItem(world),
  };
  const readyNodes = machines.filter((m) => m.done).length;
  const ready =
    Object.values(items).every((item) => item.done) &&
    wanted > 0 &&
    readyNodes >= wanted &&
    world.machines.length === wanted;
  return { exists: world.cluster !== undefined, ...items, machines, wanted, address, ready };
}

/** All items of a view, each with a title of its own. */
export function itemsOf(view: DemoView): readonly Item[] {
  return [
    view.network,
    view.router,
    view.securityGroups,
    view.endpoint,
    ...view.machines,
    view.loadBalancer,
    view.application,
    view.addon,
  ];
}

function conditionsOf(object: { status?: { conditions?: unknown } } | undefined): readonly Condition[] {
  return (object?.status?.conditions ?? []) as readonly Condition[];
}

function problemOf(conditions: readonly Condition[]): string | undefined {
  return conditions.find((c) => c.status === "False" && lasting.has(c.reason))?.message;
}

function partItem(title: string, condition: Condition | undefined, problem: string | undefined): Item {
  const done = condition?.status === "True";
  const detail = done ? "ready" : tidy(condition?.message);
  return { title, done, detail, ...(problem === undefined || done ? {} : { problem }) };
}

function endpointItem({ cluster, controlPlane }: DemoWorld): Item {
  const endpoint = cluster?.spec.controlPlaneEndpoint;
  const available = isTrue(conditionsOf(controlPlane), "Available");
  const host = endpoint?.host;
  const done = available && host !== undefined && host !== "";
  const problem = done ? undefined : problemOf(conditionsOf(controlPlane));
  const detail = done
    ? `https://${host}:${endpoint?.port}`
    : tidy(getCondition(conditionsOf(controlPlane), "Available")?.message);
  return { title: "API endpoint", done, detail, ...(problem === undefined ? {} : { problem }) };
}

/** A cluster of an older state folder, or one whose application a person deleted, has none: nothing waits for it. */
function applicationItem({ application, service }: DemoWorld, address: string | undefined): Item {
  const title = "application";
  if (!application) return service ? { title, done: true, detail: "none" } : { title, done: false, detail: "waiting" };
  const { replicas = 1 } = application.spec;
  const ready = application.status?.readyReplicas ?? 0;
  const done = ready >= replicas && address !== undefined;
  const pods = `${application.metadata.name}, ${ready} of ${replicas} pods ready`;
  return { title, done, detail: done ? `${pods}, http://${address}` : "waiting" };
}

/** A cluster of an older state folder, or one whose set a person deleted, has none: nothing waits for it. */
function addonItem({ addons, proxies, cluster }: DemoWorld): Item {
  const title = "add-on";
  if (!addons) return { title, done: cluster !== undefined, detail: cluster === undefined ? "waiting" : "none" };
  const [addon] = addons.status?.addons ?? [];
  if (!addon || addon.digest === undefined) return { title, done: false, detail: tidy(addon?.message) };
  if (!proxies && cluster?.metadata.deletionTimestamp !== undefined) return { title, done: false, detail: "waiting" };
  // A person who deletes it sees it come back: this line changes twice.
  if (!proxies) return { title, done: false, detail: `${addon.name} was deleted, being restored` };
  const { desiredNumberScheduled: wanted = 0, numberReady: ready = 0 } = proxies.status ?? {};
  const nodes = wanted === 1 ? "node" : "nodes";
  return { title, done: ready >= wanted, detail: `${addon.name} on ${ready} of ${wanted} ${nodes}` };
}

function machineItem(machine: Machine, world: DemoWorld): Item {
  const title = `machine ${machine.metadata.name}`;
  const node = world.nodes.find((n) => n.metadata.name === (machine.status?.nodeRef?.name ?? machine.metadata.name));
  const server = world.servers.find((s) => s.metadata.name === machine.spec.infrastructureRef.name);
  const ready = node !== undefined && isTrue((node.status?.conditions ?? []) as readonly Condition[], "Ready");
  const initialized = node !== undefined && (node.spec?.taints ?? []).every((t) => t.key !== UNINITIALIZED);
  if (ready && initialized && machine.status?.nodeRef !== undefined)
    return {
      title,
      done: true,
      detail: `node Ready, ${node.status?.addresses?.find((a) => a.type === "InternalIP")?.address ?? "no address"}`,
    };
  if (node) return { title, done: false, detail: ready ? "joined, being initialised" : "joined" };
  const problem = problemOf(conditionsOf(server));
  return { title, done: false, detail: stage(machine, server, world), ...(problem === undefined ? {} : { problem }) };
}

function stage(machine: Machine, server: OpenStackMachine | undefined, world: DemoWorld): string {
  if (server?.status?.initialization?.provisioned === true) return booting(server, world);
  const condition = getCondition(conditionsOf(server), "InstanceReady") ?? getCondition(conditionsOf(server), "Ready");
  const text = tidy(condition?.message);
  // The server has the machine's name, which the line already begins with.
  return text.replace(`server ${machine.metadata.name} `, "the server ");
}

/** Minutes after which a machine that has not joined is worth another line; the first is longer than a slow boot. */
const LATE = [3, 10, 30, 60, 180];

/** Says after some minutes where the reason is found: only the machine's own console has it. */
function booting(server: OpenStackMachine, { cluster, now }: DemoWorld): string {
  const active = getCondition(conditionsOf(server), "InstanceReady") ?? getCondition(conditionsOf(server), "Ready");
  const minutes = active === undefined ? 0 : (now - Date.parse(active.lastTransitionTime)) / 60_000;
  const late = LATE.findLast((limit) => minutes >= limit);
  if (late === undefined) return "booting, joining";
  const { host, port } = cluster?.spec.controlPlaneEndpoint ?? {};
  const endpoint = host === undefined ? "the API endpoint" : `https://${host}:${port}`;
  return (
    `booting, joining for over ${late} min: read \`openstack console log show ${server.metadata.name}\`, ` +
    `and see that machines reach ${endpoint}`
  );
}

/** A condition's message as part of a line: no UUIDs, and small where it begins. */
function tidy(message: string | undefined): string {
  const text = (message ?? "").replaceAll(/ \([0-9a-f]{8}-[0-9a-f-]{27}\)/g, "");
  return text === "" ? "waiting" : text.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
}
