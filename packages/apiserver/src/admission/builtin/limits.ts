import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, text, type Json } from "../../json/json.ts";
import type { Draft, Strategy, WriteContext } from "../../contract/resource.ts";
import { nanosOf } from "../../syntax/quantity.ts";
import { podResources } from "./pod-resources.ts";
import { PODS, refusal } from "./refusal.ts";

const ANNOTATION = "kubernetes.io/limit-ranger";
const CLAIMS = { group: "", plural: "persistentvolumeclaims" };

function limitsOf(object: KubeObject, { cluster }: WriteContext): readonly (readonly Json[])[] {
  const namespace = object.metadata.namespace ?? "";
  const { items } = cluster.store.list({ cluster: cluster.name, resource: "/limitranges", namespace });
  return items.map(({ object: range }) => records(at(range, "spec", "limits")));
}

/** Gives containers what the namespace's LimitRanges say they get when they ask for nothing. */
export function fillLimits(pod: Draft, context: WriteContext): void {
  const spec = record(pod["spec"]);
  for (const limits of limitsOf(pod, context)) {
    const ofContainers = limits.filter((l) => l["type"] === "Container");
    const merged = (name: string): Json => Object.assign({}, ...ofContainers.map((l) => record(l[name]))) as Json;
    const wanted = { requests: merged("defaultRequest"), limits: merged("default") };
    const notes = [
      ...records(spec["containers"]).flatMap((c) => fillContainer(c, wanted, "container")),
      ...records(spec["initContainers"]).flatMap((c) => fillContainer(c, wanted, "init container")),
    ];
    if (notes.length === 0) continue;
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}`,
    };
  }
}

function fillContainer(container: Json, wanted: { requests: Json; limits: Json }, kind: string): string[] {
  const resources = record(container["resources"]);
  const notes: string[] = [];
  for (const [which, called] of [
    ["requests", "request"],
    ["limits", "limit"],
  ] as const) {
    const given = record(resources[which]);
    const missing = Object.keys(wanted[which]).filter((name) => given[name] === undefined);
    if (missing.length === 0) continue;
    resources[which] = { ...given, ...Object.fromEntries(missing.map((name) => [name, wanted[which][name]])) };
    notes.push(`${missing.toSorted().join(", ")} ${called} for ${kind} ${text(container["name"])}`);
  }
  container["resources"] = resources;
  return notes;
}

/** Throws 403 for a pod or a claim that asks for less or more than a LimitRange of its namespace allows. */
export const admitLimits: NonNullable<Strategy["admit"]> = (object, old, context) => {
  if (context.subresource !== "" || old?.metadata.deletionTimestamp) return;
  const isPod = object.kind === "Pod";
  if (isPod && old) return;
  for (const limits of limitsOf(object, context)) {
    const faults = limits.flatMap((limit) => (isPod ? podFaults(limit, object) : claimFaults(limit, object)));
    const [first] = faults;
    if (first === undefined) continue;
    throw refusal(isPod ? PODS : CLAIMS, object, faults.length === 1 ? first : `[${[...new Set(faults)].join(", ")}]`);
  }
};

function claimFaults(limit: Json, claim: KubeObject): string[] {
  if (limit["type"] !== "PersistentVolumeClaim") return [];
  const requests = record(at(claim, "spec", "resources", "requests"));
  const type = "PersistentVolumeClaim";
  return [
    ...each(limit["min"], (name, bound) => tooLittle({ type, name, bound }, requests, {})),
    ...each(limit["max"], (name, bound) => tooMuchAsked({ type, name, bound }, requests)),
  ];
}

function podFaults(limit: Json, pod: KubeObject): string[] {
  const spec = record(fields(pod)["spec"]);
  const type = text(limit["type"]);
  const judged = (requests: Json, limits: Json): string[] => [
    ...each(limit["min"], (name, bound) => tooLittle({ type, name, bound }, requests, limits)),
    ...each(limit["max"], (name, bound) => tooMuch({ type, name, bound }, requests, limits)),
    ...each(limit["maxLimitRequestRatio"], (name, bound) => tooFar({ type, name, bound }, requests, limits)),
  ];
  if (type === "Pod") return judged(podResources(spec, "requests"), podResources(spec, "limits"));
  if (type !== "Container") return [];
  return [...records(spec["containers"]), ...records(spec["initContainers"])].flatMap((c) =>
    judged(record(at(c, "resources", "requests")), record(at(c, "resources", "limits"))),
  );
}

function each(bounds: unknown, judge: (name: string, bound: string) => string | undefined): string[] {
  return Object.entries(record(bounds)).flatMap(([name, bound]) => judge(name, text(bound)) ?? []);
}

interface Bound {
  readonly type: string;
  readonly name: string;
  readonly bound: string;
}

const amount = (resources: Json, name: string): bigint => nanosOf(resources[name]) ?? 0n;
const quantity = (resources: Json, name: string): string => text(resources[name]);

function tooLittle({ type, name, bound }: Bound, requests: Json, limits: Json): string | undefined {
  const least = nanosOf(bound) ?? 0n;
  const what = `minimum ${name} usage per ${type} is ${bound}`;
  if (requests[name] === undefined) return `${what}.  No request is specified`;
  if (amount(requests, name) < least) return `${what}, but request is ${quantity(requests, name)}`;
  if (limits[name] === undefined || amount(limits, name) >= least) return undefined;
  return `${what}, but limit is ${quantity(limits, name)}`;
}

function tooMuch({ type, name, bound }: Bound, requests: Json, limits: Json): string | undefined {
  const most = nanosOf(bound) ?? 0n;
  const what = `maximum ${name} usage per ${type} is ${bound}`;
  if (limits[name] === undefined) return `${what}.  No limit is specified`;
  if (amount(limits, name) > most) return `${what}, but limit is ${quantity(limits, name)}`;
  return amount(requests, name) > most ? `${what}, but request is ${quantity(requests, name)}` : undefined;
}

function tooMuchAsked({ type, name, bound }: Bound, requests: Json): string | undefined {
  const what = `maximum ${name} usage per ${type} is ${bound}`;
  if (requests[name] === undefined) return `${what}.  No request is specified`;
  return amount(requests, name) > (nanosOf(bound) ?? 0n)
    ? `${what}, but request is ${quantity(requests, name)}`
    : undefined;
}

function tooFar({ type, name, bound }: Bound, requests: Json, limits: Json): string | undefined {
  const what = `${name} max limit to request ratio per ${type} is ${bound}`;
  const [asked, most] = [amount(requests, name), amount(limits, name)];
  if (asked === 0n) return `${what}, but no request is specified or request is 0`;
  if (most === 0n) return `${what}, but no limit is specified or limit is 0`;
  const ratio = Number(most) / Number(asked);
  return ratio > Number(nanosOf(bound) ?? 0n) / 1e9 ? `${what}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
