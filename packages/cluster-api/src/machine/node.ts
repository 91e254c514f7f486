import type { Machine } from "@causeway/api";
import { annotations, taints } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";
import { controllerOf } from "@causeway/kubernetes";
import { lockOf, missing } from "../objects/metadata.ts";

type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];

/**
 * The merge patch that makes a Node carry what its Machine says, and takes away the taint that kept work off until
 * then; undefined when nothing is to be done. Labels go over only from the three domains that kubelets may not set
 * themselves (KEP-279 node isolation, and node.cluster.x-k8s.io), as upstream, and any others by annotation
 * causeway.dev/node-labels: a Machine's own labels may be anything. `isOutdated`: a rollout replaces the Machine, so
 * that pods had better go to other Nodes.
 */
export function nodePatch(node: Node, machine: Machine, isOutdated = false): Record<string, unknown> | undefined {
  const labels = labelChanges(node, machine);
  const notes = missing(node.metadata.annotations, wantedAnnotations(machine));
  const wantedTaints = taintsFor(node, machine, isOutdated);
  const taintsChange = sameTaints(node.spec?.taints ?? [], wantedTaints) ? undefined : wantedTaints;
  if (!labels && !notes && !taintsChange) return undefined;
  return {
    metadata: { ...lockOf(node), ...(labels ? { labels } : {}), ...(notes ? { annotations: notes } : {}) },
    ...(taintsChange ? { spec: { taints: taintsChange } } : {}),
  };
}

/** True for labels that are copied from a Machine to its Node. */
export function isNodeLabel(key: string): boolean {
  const domain = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
  return (
    domain === "node-role.kubernetes.io" ||
    ["node-restriction.kubernetes.io", "node.cluster.x-k8s.io"].some(
      (managed) => domain === managed || domain.endsWith(`.${managed}`),
    )
  );
}

function labelsFor(machine: Machine): Record<string, string> {
  const own = Object.entries(machine.metadata.labels ?? {}).filter(([key]) => isNodeLabel(key));
  const named = Object.entries(namedLabels(machine)).filter((entry): entry is [string, string] => entry[1] !== null);
  const all = Object.entries({ ...Object.fromEntries(own), ...Object.fromEntries(named) });
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Of the annotation; what is no such object is none, since its writer is to correct it. */
function namedLabels({ metadata }: Machine): Readonly<Record<string, string | null>> {
  const read: unknown = parseJson(metadata.annotations?.[annotations.nodeLabels] ?? "{}");
  if (typeof read !== "object" || read === null || Array.isArray(read)) return {};
  return Object.fromEntries(
    Object.entries(read).filter((entry): entry is [string, string | null] => typeof (entry[1] ?? "") === "string"),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function labelChanges(node: Node, machine: Machine): Record<string, string | null> | undefined {
  const wanted = labelsFor(machine);
  const lost = Object.entries(namedLabels(machine)).flatMap(([key, value]) => (value === null ? [key] : []));
  const before = [...new Set([...namesIn(node, annotations.labelsFromMachine), ...lost])];
  const stale = before.filter((key) => !Object.hasOwn(wanted, key) && node.metadata.labels?.[key] !== undefined);
  const added = missing(node.metadata.labels, wanted);
  if (!added && stale.length === 0) return undefined;
  return { ...added, ...Object.fromEntries(stale.map((key) => [key, null])) };
}

function wantedAnnotations(machine: Machine): Record<string, string> {
  const owner = controllerOf(machine);
  return {
    [annotations.clusterName]: machine.spec.clusterName,
    [annotations.clusterNamespace]: machine.metadata.namespace ?? "",
    [annotations.machine]: machine.metadata.name,
    ...(owner ? { [annotations.ownerKind]: owner.kind, [annotations.ownerName]: owner.name } : {}),
    [annotations.labelsFromMachine]: Object.keys(labelsFor(machine)).join(","),
    ...(alwaysTaints(machine).length > 0 || machine.spec.taints
      ? { [annotations.taintsFromMachine]: alwaysTaints(machine).map(taintName).join(",") }
      : {}),
  };
}

const outdated: Taint = { key: taints.outdatedRevision, effect: "PreferNoSchedule" };

function taintsFor(node: Node, machine: Machine, isOutdated: boolean): Taint[] {
  const present = node.spec?.taints ?? [];
  const fresh = present.some(({ key }) => key === taints.uninitialized);
  const always = alwaysTaints(machine);
  const once = fresh
    ? (machine.spec.taints ?? []).filter((t) => t.propagation === "OnInitialization").map(toTaint)
    : [];
  const wanted = [...always, ...once, ...(isOutdated ? [outdated] : [])];
  const stale = namesIn(node, annotations.taintsFromMachine).filter(
    (name) => !always.some((t) => taintName(t) === name),
  );
  const kept = present.filter(
    (taint) =>
      taint.key !== taints.uninitialized &&
      taint.key !== taints.outdatedRevision &&
      !stale.includes(taintName(taint)) &&
      !wanted.some((other) => taintName(other) === taintName(taint)),
  );
  return [...kept, ...wanted];
}

function alwaysTaints(machine: Machine): Taint[] {
  return (machine.spec.taints ?? []).filter((taint) => taint.propagation === "Always").map(toTaint);
}

function toTaint(taint: { key: string; value?: string; effect: Taint["effect"] }): Taint {
  return { key: taint.key, ...(taint.value === undefined ? {} : { value: taint.value }), effect: taint.effect };
}

function taintName(taint: Taint): string {
  return `${taint.key}:${taint.effect}`;
}

function sameTaints(present: readonly Taint[], wanted: readonly Taint[]): boolean {
  const names = new Set(present.map((taint) => `${taintName(taint)}=${taint.value ?? ""}`));
  return present.length === wanted.length && wanted.every((t) => names.has(`${taintName(t)}=${t.value ?? ""}`));
}

function namesIn(node: Node, annotation: string): string[] {
  const text = node.metadata.annotations?.[annotation] ?? "";
  return text === "" ? [] : text.split(",");
}
