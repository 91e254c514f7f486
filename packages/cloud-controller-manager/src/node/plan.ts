import type { Node, NodeAddress, Plan, PlannedEvent, Taint } from "@causeway/kubernetes";
import type { Server } from "@causeway/openstack";
import { nodeAddresses } from "./addresses.ts";
import type { Observed } from "./gather.ts";
import { formatProviderId, parseProviderId } from "./provider-id.ts";
import type { Step } from "./steps.ts";

export const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized";
export const shutdownTaint = "node.cloudprovider.kubernetes.io/shutdown";

/** A Node goes after the cloud has denied its server in this many fresh lists, this many milliseconds apart. */
const denialsNeeded = 3;
const denialPause = 5_000;

/**
 * What cloud-provider's node and node-lifecycle controllers do: a new Node gets addresses, providerID and topology
 * labels before its taint goes; a stopped server taints its Node; a Node whose server is gone is deleted.
 */
export function plan(observed: Observed, now: number): Plan<Step, undefined> {
  const { node, servers } = observed;
  if (servers.length > 1)
    return still([
      warning(
        "AmbiguousServer",
        `${servers.length} servers are named ${node.metadata.name}; the node cannot be told which is its own`,
      ),
    ]);
  const known = parseProviderId(node.spec?.providerID);
  if (node.spec?.providerID !== undefined && node.spec.providerID !== "" && !known)
    return still([warning("ForeignProviderID", `providerID ${node.spec.providerID} is not OpenStack's`)]);
  if (known && known.region !== "" && known.region !== observed.region)
    return still([
      warning("ForeignRegion", `the node is of region ${known.region}, this controller of ${observed.region}`),
    ]);
  const server = servers[0];
  return server ? planPresent(observed, server) : planMissing(observed, now);
}

function planPresent(observed: Observed, server: Server): Plan<Step, undefined> {
  const addresses = withKubeletHostname(
    observed.node,
    nodeAddresses({ server, ports: observed.ports }, observed.config.networking),
  );
  const reachable = addresses.some((a) => a.type === "InternalIP" || a.type === "ExternalIP");
  // One step at a time: the second carries the revision that the first leaves behind.
  const readdress: Step | undefined =
    reachable && !sameAddresses(observed.node.status?.addresses ?? [], addresses)
      ? { type: "set-addresses", addresses }
      : undefined;
  const step = readdress ?? nodeChange(observed, server, reachable);
  return {
    steps: step ? [step] : [],
    status: undefined,
    ...(reachable ? {} : { wait: { for: `server ${server.name} to have an address` } }),
  };
}

function planMissing(observed: Observed, now: number): Plan<Step, undefined> {
  const { node, denials } = observed;
  if (parseProviderId(node.spec?.providerID) === undefined)
    return { steps: [], status: undefined, wait: { for: `a server named ${node.metadata.name}` } };
  if (denials < denialsNeeded) {
    return {
      steps: [],
      status: undefined,
      wait: {
        for: `server of ${node.metadata.name} is missing (${denials} of ${denialsNeeded})`,
        until: now + denialPause,
      },
    };
  }
  const message = `Deleting node ${node.metadata.name} because it does not exist in the cloud provider`;
  return {
    steps: [{ type: "delete-node", reason: message }],
    status: undefined,
    events: [{ type: "Normal", reason: "DeletingNode", message }],
  };
}

function nodeChange(observed: Observed, server: Server, reachable: boolean): Step | undefined {
  const { node } = observed;
  const labels = missingLabels(node, wantedLabels(observed, server));
  const taints = wantedTaints(node.spec?.taints ?? [], server, reachable);
  const providerId =
    node.spec?.providerID === undefined || node.spec.providerID === "" ? providerIdOf(observed, server) : undefined;
  if (providerId === undefined && taints === undefined && Object.keys(labels).length === 0) return undefined;
  return {
    type: "set-node",
    labels,
    ...(providerId === undefined ? {} : { providerId }),
    ...(taints === undefined ? {} : { taints }),
  };
}

function providerIdOf({ region, config }: Observed, server: Server): string {
  return formatProviderId({ region: config.regional ? region : "", serverId: server.id });
}

/** The taints as they must be; undefined when they are. */
function wantedTaints(taints: readonly Taint[], server: Server, reachable: boolean): readonly Taint[] | undefined {
  const shutdown = server.status === "SHUTOFF";
  const kept = taints.filter(
    (t) => !(t.key === uninitializedTaint && reachable) && !(t.key === shutdownTaint && !shutdown),
  );
  const missing = shutdown && !taints.some((t) => t.key === shutdownTaint);
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

/** The kubelet's own Hostname stays where the cloud names none. */
function withKubeletHostname(node: Node, addresses: readonly NodeAddress[]): NodeAddress[] {
  const own = node.status?.addresses?.find((a) => a.type === "Hostname");
  const named = addresses.some((a) => a.type === "Hostname");
  const all = own && !named ? [...addresses, own] : [...addresses];
  const provided = node.metadata.annotations?.["alpha.kubernetes.io/provided-node-ip"];
  const first = provided === undefined ? undefined : all.find((a) => a.address === provided);
  return first
    ? [first, ...all.filter((a) => a.type !== first.type || (a.address !== first.address && isOtherFamily(a, first)))]
    : all;
}

function isOtherFamily(a: NodeAddress, b: NodeAddress): boolean {
  return a.address.includes(":") !== b.address.includes(":");
}

function sameAddresses(a: readonly NodeAddress[], b: readonly NodeAddress[]): boolean {
  return a.length === b.length && a.every((x, i) => x.type === b[i]?.type && x.address === b[i]?.address);
}

function still(events: readonly PlannedEvent[]): Plan<Step, undefined> {
  return { steps: [], status: undefined, events };
}

function warning(reason: string, message: string): PlannedEvent {
  return { type: "Warning", reason, message };
}
