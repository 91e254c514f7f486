import { canonicalIp, canonicalJson, parseIp } from "@causeway/foundation";
import {
  ownerReference,
  type Endpoint,
  type EndpointAddress,
  type Endpoints,
  type EndpointSlice,
  type Plan,
  type PlannedEvent,
} from "@causeway/kubernetes";
import { freeName, managerLabel, portsKey, serviceLabel, sliceDeletion } from "../objects/slices.ts";
import { manager, type Observed } from "./gather.ts";
import { canonicalSubsets, type CanonicalSubset } from "./subsets.ts";
import type { Step } from "./steps.ts";

/** Addresses of one subset that are mirrored, at most (upstream's --mirroring-max-endpoints-per-subset). */
export const MAX_ADDRESSES = 1_000;

const SKIP_LABEL = "endpointslice.kubernetes.io/skip-mirror";
const LEADER_ANNOTATION = "control-plane.alpha.kubernetes.io/leader";
/** Annotations that are about the Endpoints object itself. */
const OWN_ANNOTATIONS = [
  "endpoints.kubernetes.io/last-change-trigger-time",
  "kubectl.kubernetes.io/last-applied-configuration",
];

type Family = "IPv4" | "IPv6";

interface Wanted {
  readonly family: Family;
  readonly ports: NonNullable<EndpointSlice["ports"]>;
  readonly endpoints: Endpoint[];
}

/** One slice for each subset and address family of Endpoints that a user keeps for a Service without a selector. */
export function plan(observed: Observed): Plan<Step, undefined> {
  const { endpoints, slices } = observed;
  if (!endpoints || !isMirrored(observed)) return { steps: slices.map(sliceDeletion), status: undefined };
  const { wanted, events } = wantedOf(endpoints);
  const owned = slices.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => uid === endpoints.metadata.uid),
  );
  const free = new Set(owned);
  const take = (test: (slice: EndpointSlice) => boolean): EndpointSlice | undefined => {
    const found = [...free].find(test);
    if (found) free.delete(found);
    return found;
  };
  // A slice keeps its ports; what is left over is used again before a new one is made.
  const paired = wanted.map((one): [Wanted, EndpointSlice | undefined] => [
    one,
    take(({ addressType, ports }) => addressType === one.family && portsKey(ports) === portsKey(one.ports)),
  ]);
  const names = new Set(observed.names);
  const steps = paired.flatMap(([one, same]): Step[] => {
    const existing = same ?? take(({ addressType }) => addressType === one.family);
    const slice = sliceOf(endpoints, one, existing ?? names);
    if (!existing) return [{ type: "create-slice", slice }];
    return shown(existing) === shown(slice) ? [] : [{ type: "update-slice", slice }];
  });
  const left = slices.filter((slice) => free.has(slice) || !owned.includes(slice));
  const all = [...steps, ...left.map(sliceDeletion)];
  // The round that finds nothing to do reports what was skipped: once for each change.
  return { steps: all, status: undefined, events: all.length === 0 ? events : [] };
}

function isMirrored({ endpoints, service }: Observed): boolean {
  if (!endpoints || endpoints.metadata.deletionTimestamp !== undefined) return false;
  const { labels = {}, annotations = {} } = endpoints.metadata;
  // The lock of a leader election has no addresses; the label says that another program keeps the slices.
  if (labels[SKIP_LABEL] === "true" || annotations[LEADER_ANNOTATION] !== undefined) return false;
  return service !== undefined && Object.keys(service.spec.selector ?? {}).length === 0;
}

function wantedOf({ subsets = [] }: Endpoints): { wanted: Wanted[]; events: PlannedEvent[] } {
  const wanted: Wanted[] = [];
  let [invalid, beyond] = [0, 0];
  for (const subset of canonicalSubsets(subsets)) {
    const valid = subset.members.filter(({ address }) => parseIp(address.ip) !== undefined);
    invalid += subset.members.length - valid.length;
    beyond += Math.max(0, valid.length - MAX_ADDRESSES);
    wanted.push(...familiesOf(subset.ports, valid.slice(0, MAX_ADDRESSES)));
  }
  const warning = (reason: string, message: string): PlannedEvent => ({ type: "Warning", reason, message });
  const events = [
    ...(invalid > 0
      ? [warning("InvalidIPAddress", `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`)]
      : []),
    ...(beyond > 0
      ? [
          warning(
            "TooManyAddressesToMirror",
            `A max of ${MAX_ADDRESSES} addresses can be mirrored to EndpointSlices per Endpoints subset. ${invalid + beyond} addresses were skipped`,
          ),
        ]
      : []),
  ];
  return { wanted, events };
}

function familiesOf(ports: Wanted["ports"], members: CanonicalSubset["members"]): Wanted[] {
  return (["IPv4", "IPv6"] as const).flatMap((family) => {
    const version = family === "IPv4" ? 4 : 6;
    const endpoints = members
      .filter(({ address }) => parseIp(address.ip)?.version === version)
      .map(({ address, ready }) => endpointOf(address, ready));
    return endpoints.length > 0 ? [{ family, ports, endpoints }] : [];
  });
}

function endpointOf({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [canonicalIp(ip) ?? ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef ? { targetRef } : {}),
    ...(nodeName ? { nodeName } : {}),
  };
}

/** What `existing` is to be, or a slice with a name that is not in use. */
function sliceOf(
  endpoints: Endpoints,
  { family, ports, endpoints: held }: Wanted,
  existing: EndpointSlice | Set<string>,
): EndpointSlice {
  const { name, namespace = "", uid, labels = {}, annotations = {} } = endpoints.metadata;
  const copied = Object.entries(annotations).filter(([key]) => !OWN_ANNOTATIONS.includes(key));
  const { annotations: _replaced, ...identity } =
    existing instanceof Set
      ? { annotations: {}, name: freeName(`${name}-`, `${uid}/mirror/${family}/${portsKey(ports)}`, existing) }
      : existing.metadata;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      ...identity,
      namespace,
      labels: { ...labels, [serviceLabel]: name, [managerLabel]: manager },
      ...(copied.length > 0 ? { annotations: Object.fromEntries(copied) } : {}),
      ownerReferences: [ownerReference(endpoints, { controller: true })],
    },
    addressType: family,
    endpoints: held,
    ports,
  };
}

function shown({ metadata: { labels = {}, annotations = {} }, endpoints, ports }: EndpointSlice): string {
  const order = (endpoints ?? []).map((endpoint) => canonicalJson(endpoint)).toSorted();
  return canonicalJson([labels, annotations, order, portsKey(ports)]);
}
