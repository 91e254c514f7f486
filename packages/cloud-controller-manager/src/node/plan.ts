import { canonicalIp } from "@causeway/foundation";
import {
  nodeBalancers,
  type Node,
  type NodeAddress,
  type Plan,
  type PlannedEvent,
  type Taint,
} from "@causeway/kubernetes";
import type { Server } from "@causeway/openstack";
import { isExcluded } from "../service/parameters/desired.ts";
import { nodeAddresses } from "./addresses.ts";
import { denialPause, denialsNeeded } from "./denials.ts";
import type { Observed } from "./gather.ts";
import { formatProviderId, parseProviderId } from "./provider-id.ts";
import type { Step } from "./steps.ts";
import { shutdownTaint, uninitializedTaint } from "./taints.ts";

/** A kubelet reports its status at least every five minutes; a Node without a heartbeat for longer (ms) is silent. */
const silence = 360_000;
/** A Node that never had a server may still get one for this long (ms). */
const grace = 600_000;
const resyncInterval = 60_000;

/**
 * What cloud-provider's node and node-lifecycle controllers do: a new Node gets addresses, providerID and topology
 * labels before its taint goes; a stopped server taints its Node; a Node whose server is gone is deleted.
 */
export function plan(observed: Observed, now: number): Plan<Step, undefined> {
  const { node, servers } = observed;
  if (node.metadata.deletionTimestamp !== undefined) return still();
  if (servers.length > 1)
    return still(
      "AmbiguousServer",
      `${servers.length} servers are named ${node.metadata.name}; rename or delete all but the node's own, or set the node's providerID`,
    );
  const { providerID } = node.spec ?? {};
  const known = parseProviderId(providerID);
  if (providerID !== undefined && providerID !== "" && !known)
    return still("ForeignProviderID", `providerID ${providerID} is not OpenStack's`);
  if (known && known.region !== "" && known.region !== observed.region)
    return still(
      "ForeignRegion",
      `the node is of region ${known.region}, this controller of ${observed.region}; it is left alone`,
    );
  const server = servers[0];
  if (!server) return observed.duties.lifecycle ? planMissing(observed, now) : still();
  const planned = observed.duties.initialise ? planPresent(observed, server) : planStopped(observed, server);
  if (!observed.doubtful || !observed.duties.lifecycle || planned.wait) return planned;
  return {
    ...planned,
    wait: { for: `server ${server.name} to stop, or node ${node.metadata.name} to be Ready`, until: now + denialPause },
  };
}

function planPresent(observed: Observed, server: Server): Plan<Step, undefined> {
  const cloud = nodeAddresses({ server, ports: observed.ports, trunked: observed.trunked }, observed.config.networking);
  const { addresses, unknown } = enforceNodeIps(observed.node, withKubeletHostname(observed.node, cloud));
  const reachable = unknown === undefined && addresses.some((a) => a.type === "InternalIP" || a.type === "ExternalIP");
  // One step at a time: the second carries the revision that the first leaves behind.
  const readdress: Step | undefined =
    reachable && !sameAddresses(observed.node.status?.addresses ?? [], addresses)
      ? { type: "set-addresses", addresses }
      : undefined;
  const step = readdress ?? nodeChange(observed, server, reachable);
  const message = `the kubelet reports the node IP ${unknown}, which server ${server.name} does not have`;
  return {
    steps: step ? [step] : [],
    status: undefined,
    ...(reachable ? {} : { wait: { for: `server ${server.name} to have the node's address` } }),
    ...(unknown === undefined ? {} : { events: [warning("UnknownNodeIP", message)] }),
  };
}

/** Another controller initialises the node; ours is only the taint of a stopped server. */
function planStopped({ node, duties }: Observed, server: Server): Plan<Step, undefined> {
  const taints = wantedTaints(node.spec?.taints ?? [], server, { reachable: false, lifecycle: duties.lifecycle });
  return { steps: taints ? [{ type: "set-node", labels: {}, taints }] : [], status: undefined };
}

/**
 * A Node is deleted when the cloud has denied its server several times and its kubelet is not Ready. One without a
 * providerID never had a server: only a silent one goes, and only when it has had time enough.
 */
function planMissing(observed: Observed, now: number): Plan<Step, undefined> {
  const { node, denials } = observed;
  const { name, creationTimestamp } = node.metadata;
  const waiting = (what: string, pause: number): Plan<Step, undefined> => ({
    steps: [],
    status: undefined,
    wait: { for: what, until: now + pause },
  });
  const nameless = parseProviderId(node.spec?.providerID) === undefined;
  const age = creationTimestamp === undefined ? 0 : now - Date.parse(creationTimestamp);
  if (nameless && !(age > grace && isSilent(node, now))) return waiting(`a server named ${name}`, resyncInterval);
  if (!nameless && isReady(node) && !isSilent(node, now))
    return waiting(`node ${name} to stop, whose server is not in the cloud`, resyncInterval);
  if (denials < denialsNeeded)
    return waiting(`server of ${name} is missing (${denials} of ${denialsNeeded})`, denialPause);
  const reason = `Deleting node ${name} because it does not exist in the cloud provider`;
  return { steps: [{ type: "delete-node", reason }], status: undefined };
}

function isReady(node: Node): boolean {
  return node.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") === true;
}

function isSilent(node: Node, now: number): boolean {
  const heard = (node.status?.conditions ?? []).map((c) => Date.parse(c.lastHeartbeatTime ?? "")).filter((t) => t > 0);
  return heard.length === 0 || now - Math.max(...heard) > silence;
}

function nodeChange(observed: Observed, server: Server, reachable: boolean): Step | undefined {
  const { node } = observed;
  const labels = missingLabels(node, wantedLabels(observed, server));
  const taints = wantedTaints(node.spec?.taints ?? [], server, { reachable, lifecycle: observed.duties.lifecycle });
  const annotation = balancersAnnotation(observed);
  const providerId =
    node.spec?.providerID === undefined || node.spec.providerID === "" ? providerIdOf(observed, server) : undefined;
  if (providerId === undefined && taints === undefined && annotation === undefined && Object.keys(labels).length === 0)
    return undefined;
  return {
    type: "set-node",
    labels,
    ...(providerId === undefined ? {} : { providerId }),
    ...(taints === undefined ? {} : { taints }),
    ...(annotation === undefined ? {} : { annotations: annotation }),
  };
}

/**
 * Whether the Node may be a member of load balancers, where it does not say so. One that is excluded and has left them
 * all remains out: nothing makes it a member again. Where Nodes are not followed any more it is removed: each deleted
 * Machine would wait in vain.
 */
function balancersAnnotation({ node, hasLeft, config }: Observed): Record<string, string | null> | undefined {
  const { annotation, in: member, out } = nodeBalancers;
  const said = node.metadata.annotations?.[annotation];
  if (!config.loadBalancer.followNodes) return said === undefined ? undefined : { [annotation]: null };
  if (hasLeft === undefined) return undefined;
  const wanted = !isExcluded(node) ? member : hasLeft ? out : (said ?? member);
  return wanted === said ? undefined : { [annotation]: wanted };
}

function providerIdOf({ region, config }: Observed, server: Server): string {
  return formatProviderId({ region: config.regional ? region : "", serverId: server.id });
}

/** The taints as they must be; undefined when they are. */
function wantedTaints(
  taints: readonly Taint[],
  server: Server,
  { reachable, lifecycle }: { readonly reachable: boolean; readonly lifecycle: boolean },
): readonly Taint[] | undefined {
  const shutdown = server.status === "SHUTOFF";
  const kept = taints.filter(
    (t) => !(t.key === uninitializedTaint && reachable) && !(t.key === shutdownTaint && !shutdown && lifecycle),
  );
  const missing = lifecycle && shutdown && !taints.some((t) => t.key === shutdownTaint);
  const wanted: readonly Taint[] = missing ? [...kept, { key: shutdownTaint, effect: "NoSchedule" }] : kept;
  return wanted.length === taints.length && !missing ? undefined : wanted;
}

/** Stable labels with their beta forms, which are kept equal. */
function wantedLabels(observed: Observed, server: Server): Record<string, string> {
  const type = instanceType(observed, server);
  const zone = labelValue(server["OS-EXT-AZ:availability_zone"] ?? "");
  const region = labelValue(observed.region);
  const labels: Record<string, string> = {};
  const put = (value: string, ...keys: readonly string[]) => {
    if (value !== "") for (const key of keys) labels[key] = value;
  };
  put(type, "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type");
  put(zone, "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
  put(region, "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region");
  return labels;
}

function missingLabels(node: Node, wanted: Record<string, string>): Record<string, string> {
  const have = node.metadata.labels ?? {};
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => have[key] !== value));
}

const validLabel = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

function instanceType({ flavor }: Observed, server: Server): string {
  const names = [server.flavor.original_name, flavor?.name, server.flavor.id];
  return names.find((name) => name !== undefined && name !== "" && validLabel.test(name)) ?? "";
}

/** Any text as a label value: what is not allowed becomes "-", the ends are trimmed, 63 characters at most. */
export function labelValue(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_.-]/g, "-")
    .slice(0, 63)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
}

/** The kubelet's own Hostname remains where the cloud names none. */
function withKubeletHostname(node: Node, addresses: readonly NodeAddress[]): NodeAddress[] {
  const own = node.status?.addresses?.find((a) => a.type === "Hostname");
  const named = addresses.some((a) => a.type === "Hostname");
  return own && !named ? [...addresses, own] : [...addresses];
}

interface Enforced {
  readonly addresses: readonly NodeAddress[];
  /** A node IP that the server does not have. */
  readonly unknown?: string;
}

/** Node IPs that the kubelet was given (one, or one per family) are the only ones of their type, and come first. */
function enforceNodeIps(node: Node, addresses: readonly NodeAddress[]): Enforced {
  const text = node.metadata.annotations?.["alpha.kubernetes.io/provided-node-ip"] ?? "";
  const wanted = text
    .split(",")
    .map((ip) => ip.trim())
    .filter((ip) => ip !== "");
  if (wanted.length === 0) return { addresses };
  const same = (a: NodeAddress, ip: string) => a.address === ip || canonicalIp(a.address) === canonicalIp(ip);
  const isIp = (a: NodeAddress) => a.type === "InternalIP" || a.type === "ExternalIP";
  const unknown = wanted.find((ip) => !addresses.some((a) => isIp(a) && same(a, ip)));
  if (unknown !== undefined) return { addresses, unknown };
  const first = wanted.flatMap((ip) => addresses.filter((a) => isIp(a) && same(a, ip)));
  return { addresses: [...first, ...addresses.filter((a) => !first.some((f) => f.type === a.type))] };
}

function sameAddresses(a: readonly NodeAddress[], b: readonly NodeAddress[]): boolean {
  return a.length === b.length && a.every((x, i) => x.type === b[i]?.type && x.address === b[i]?.address);
}

/** Nothing to do, and perhaps why. */
function still(reason?: string, message = ""): Plan<Step, undefined> {
  return { steps: [], status: undefined, ...(reason === undefined ? {} : { events: [warning(reason, message)] }) };
}

function warning(reason: string, message: string): PlannedEvent {
  return { type: "Warning", reason, message };
}
