import { canonicalJson, compareIps, parseIp } from "@causeway/foundation";
import type { EndpointAddress, EndpointSubset, Pod, Service } from "@causeway/kubernetes";
import { isReady } from "../objects/pods.ts";
import {
  addressesOf,
  addressesOfFamily,
  hostnameOf,
  isEndpoint,
  isHeadless,
  portsOn,
  targetRefOf,
  type ResolvedPort,
} from "../objects/service-pods.ts";

/** Addresses of one Endpoints object, at most. */
const CAPACITY = 1_000;

interface Member {
  readonly address: EndpointAddress;
  readonly ports: readonly ResolvedPort[];
  readonly ready: boolean;
}

/** The pods' addresses by the ports that they have, each list in the order of the addresses. */
export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const groups = new Map<string, Member[]>();
  for (const member of pods.flatMap((pod) => membersOf(pod, service))) {
    const key = canonicalJson(member.ports.map((port) => canonicalJson(port)).toSorted());
    groups.getOrInsertComputed(key, () => []).push(member);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, members]) => {
      const addresses = (ready: boolean) =>
        members
          .filter((each) => each.ready === ready)
          .map(({ address }) => address)
          .toSorted(compare);
      return withoutEmpty({
        addresses: addresses(true),
        notReadyAddresses: addresses(false),
        ports: (members[0]?.ports ?? []).map(({ name, ...port }) => (name === "" ? port : { name, ...port })),
      });
    });
}

function membersOf(pod: Pod, service: Service): Member[] {
  const publishes = service.spec.publishNotReadyAddresses === true;
  if (!isEndpoint(pod) || (pod.metadata.deletionTimestamp !== undefined && !publishes)) return [];
  const ports = portsOn(pod, service);
  // Only a headless Service may have no ports.
  if (ports.length === 0 && !(service.spec.ports?.length ? false : isHeadless(service))) return [];
  const family = service.spec.ipFamilies?.[0];
  const ip = (family ? addressesOfFamily(pod, family) : addressesOf(pod))[0];
  if (ip === undefined) return [];
  const hostname = hostnameOf(pod, service);
  const { nodeName } = pod.spec;
  const address = {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName ? { nodeName } : {}),
    targetRef: targetRefOf(pod),
  };
  return [{ address, ports, ready: publishes || isReady(pod) }];
}

function compare(a: EndpointAddress, b: EndpointAddress): number {
  const one = parseIp(a.ip);
  const other = parseIp(b.ip);
  const order = one && other ? compareIps(one, other) : 0;
  return order || ((a.targetRef?.uid ?? "") < (b.targetRef?.uid ?? "") ? -1 : 1);
}

/** At most 1,000 addresses: ready ones first, from each subset in proportion. Undefined: all fit. */
export function truncated(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const ready = count(subsets, "addresses");
  const notReady = count(subsets, "notReadyAddresses");
  if (ready + notReady <= CAPACITY) return undefined;
  const list = ready > CAPACITY ? "addresses" : "notReadyAddresses";
  const room = ready > CAPACITY ? CAPACITY : CAPACITY - ready;
  const total = ready > CAPACITY ? ready : notReady;
  let left = room;
  return subsets.map((subset) => {
    const held = subset[list] ?? [];
    const taken = held.slice(0, Math.min(left, Math.ceil((held.length / total) * room)));
    left -= taken.length;
    return withoutEmpty({ ...subset, ...(list === "addresses" ? { notReadyAddresses: [] } : {}), [list]: taken });
  });
}

function count(subsets: readonly EndpointSubset[], list: "addresses" | "notReadyAddresses"): number {
  return subsets.reduce((total, subset) => total + (subset[list]?.length ?? 0), 0);
}

function withoutEmpty(subset: EndpointSubset): EndpointSubset {
  return Object.fromEntries(Object.entries(subset).filter(([, list]) => Array.isArray(list) && list.length > 0));
}
