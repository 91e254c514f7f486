import { canonicalJson } from "@causeway/foundation";
import {
  ownerReference,
  type Endpoint,
  type EndpointSlice,
  type Plan,
  type Pod,
  type Service,
} from "@causeway/kubernetes";
import { isReady } from "../objects/pods.ts";
import {
  addressesOfFamily,
  headlessLabel,
  hostnameOf,
  isEndpoint,
  isHeadless,
  portsOn,
  targetRefOf,
  type ResolvedPort,
} from "../objects/service-pods.ts";
import { freeName, managerLabel, portsKey, serviceLabel, sliceDeletion } from "../objects/slices.ts";
import { manager, type Observed } from "./gather.ts";
import { pack } from "./packing.ts";
import type { Step } from "./steps.ts";

type Family = "IPv4" | "IPv6";

/** Slices of one address family for each set of ports that the Service's pods have. */
export function plan(observed: Observed): Plan<Step, undefined> {
  const { service, slices } = observed;
  const families = familiesOf(service);
  const foreign = slices.filter(({ addressType }) => !families.some((family) => family === addressType));
  const names = new Set(slices.map(({ metadata }) => metadata.name));
  const steps = families.flatMap((family) => planFamily(observed, family, names));
  return { steps: [...steps, ...foreign.map(sliceDeletion)], status: undefined };
}

function planFamily(observed: Observed, family: Family, names: Set<string>): Step[] {
  const { service } = observed;
  const existing = observed.slices.filter(({ addressType }) => addressType === family);
  const uid = service.metadata.uid;
  const owned = existing.filter(({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === uid));
  const groups = groupsOf(observed, family);
  const left = new Map<EndpointSlice, EndpointSlice>();
  const created: EndpointSlice[] = [];
  for (const { ports, endpoints } of groups.values()) {
    const packed = pack(
      owned.filter((slice) => portsKey(slice.ports) === portsKey(ports)),
      endpoints,
    );
    for (const [slice, held] of packed.kept) if (held.length > 0) left.set(slice, { ...slice, endpoints: [...held] });
    for (const held of packed.created) created.push(newSlice(service, { family, ports, endpoints: [...held], names }));
  }
  if (left.size + created.length === 0) {
    // A Service without endpoints has one empty slice, so that readers see that it was reconciled.
    const empty = owned.find((slice) => portsKey(slice.ports) === portsKey([]));
    if (empty) left.set(empty, { ...empty, endpoints: [] });
    else created.push(newSlice(service, { family, ports: [], endpoints: [], names }));
  }
  const labels = labelsOf(service);
  return [
    ...created.map((slice): Step => ({ type: "create-slice", slice })),
    ...[...left].flatMap(([before, after]): Step[] => {
      const slice = { ...after, metadata: { ...after.metadata, labels } };
      return isSame(before, slice) ? [] : [{ type: "update-slice", slice }];
    }),
    ...existing.filter((slice) => !left.has(slice)).map(sliceDeletion),
  ];
}

interface Group {
  readonly ports: ResolvedPort[];
  readonly endpoints: Endpoint[];
}

function groupsOf({ service, pods, zones }: Observed, family: Family): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const pod of pods) {
    const addresses = isEndpoint(pod) ? addressesOfFamily(pod, family) : [];
    const isPlaced = zones.has(pod.spec.nodeName ?? "") || service.spec.publishNotReadyAddresses === true;
    if (addresses.length === 0 || !isPlaced) continue;
    const ports = portsOn(pod, service);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    group.endpoints.push(endpointOf(pod, service, { addresses, zone: zones.get(pod.spec.nodeName ?? "") }));
    groups.set(key, group);
  }
  return groups;
}

function endpointOf(
  pod: Pod,
  service: Service,
  { addresses, zone }: { addresses: string[]; zone: string | undefined },
): Endpoint {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameOf(pod, service);
  const { nodeName } = pod.spec;
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: targetRefOf(pod),
    ...(nodeName ? { nodeName } : {}),
    ...(zone ? { zone } : {}),
  };
}

function newSlice(
  service: Service,
  what: { family: Family; ports: ResolvedPort[]; endpoints: Endpoint[]; names: Set<string> },
): EndpointSlice {
  const { family, ports, endpoints, names } = what;
  const { name, namespace = "", uid } = service.metadata;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: freeName(`${name}-`, `${uid}/${family}`, names),
      namespace,
      labels: labelsOf(service),
      ownerReferences: [ownerReference(service, { controller: true })],
    },
    addressType: family,
    endpoints,
    ports,
  };
}

function labelsOf(service: Service): Record<string, string> {
  const { [headlessLabel]: _headless, ...labels } = service.metadata.labels ?? {};
  return {
    ...labels,
    ...(isHeadless(service) ? { [headlessLabel]: "" } : {}),
    [serviceLabel]: service.metadata.name,
    [managerLabel]: manager,
  };
}

function familiesOf({ spec }: Service): Family[] {
  if (spec.ipFamilies && spec.ipFamilies.length > 0) return spec.ipFamilies;
  if (!spec.clusterIP || spec.clusterIP === "None") return ["IPv4", "IPv6"];
  return [spec.clusterIP.includes(":") ? "IPv6" : "IPv4"];
}

function isSame(a: EndpointSlice, b: EndpointSlice): boolean {
  const shown = ({ endpoints, metadata }: EndpointSlice) => canonicalJson([endpoints ?? [], metadata.labels ?? {}]);
  return shown(a) === shown(b);
}
