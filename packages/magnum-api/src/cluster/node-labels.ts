import { annotations, type MagnumNodeGroup } from "@causeway/api";
import { canonicalJson } from "@causeway/foundation";
import { isLabelValue } from "../wire/kubernetes-names.ts";

type Labels = Readonly<Record<string, string>>;

/** Labels that the kubelet or the cloud controller gives a Node by itself: it has a user's only from its joining on. */
const isNodesOwn = (key: string): boolean => /^([^/]*\.)?(kubernetes|k8s)\.io\//.test(key);

const pick = (labels: Labels, isWanted: (key: string) => boolean): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => isWanted(key)));

const isSame = (a: Labels, b: Labels): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([key, value]) => b[key] === value);

/**
 * A node group with other labels of its Nodes. Nodes that join it have the labels of before, and then these, as those
 * that are there: none is replaced for a label, but for those that Nodes have of their own.
 */
export function relabelled(group: MagnumNodeGroup, nodeLabels: Labels): MagnumNodeGroup {
  const before = group.joinLabels ?? group.nodeLabels ?? {};
  const kept = pick(before, (key) => !isNodesOwn(key));
  const own = pick(nodeLabels, isNodesOwn);
  const isChanged = !isSame(
    kept,
    pick(nodeLabels, (key) => !isNodesOwn(key)),
  );
  const joinLabels = inOrderOf(before, { ...kept, ...own });
  // Another order would be another flag, and thus other Nodes.
  return group.joinLabels === undefined && !isChanged
    ? { ...group, nodeLabels: joinLabels }
    : { ...group, nodeLabels, joinLabels };
}

function inOrderOf(before: Labels, labels: Labels): Record<string, string> {
  const order = { ...pick(before, (key) => Object.hasOwn(labels, key)), ...labels };
  return Object.fromEntries(Object.keys(order).map((key) => [key, labels[key] ?? ""]));
}

/** What a group's Nodes join with, as the kubelet's flag has it. `more`: labels that it gives before the user's. */
export function joinFlag({ nodeLabels, joinLabels }: MagnumNodeGroup, more: { before: Labels; after: Labels }): string {
  const all = { ...more.before, ...(joinLabels ?? nodeLabels), ...more.after };
  return Object.entries(valid(all))
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/**
 * The annotation of Machines with the labels of their Nodes, null for one that they join with and are to lose.
 * Undefined: they are as they joined, and no Machine has the annotation, which none loses.
 */
export function labelAnnotation(
  { nodeLabels, joinLabels }: MagnumNodeGroup,
  more: { before: Labels; after: Labels },
): Record<string, string> | undefined {
  if (joinLabels === undefined) return undefined;
  const wanted = pick(valid({ ...more.before, ...nodeLabels, ...more.after }), (key) => !isNodesOwn(key));
  const lost = Object.keys(joinLabels).filter((key) => !isNodesOwn(key) && !Object.hasOwn(wanted, key));
  const value = { ...wanted, ...Object.fromEntries(lost.map((key) => [key, null])) };
  return { [annotations.nodeLabels]: canonicalJson(value) };
}

/** A name or role of a group may be any text; what is no value of a label would become flags of its own. */
const valid = (labels: Labels): Labels => pick(labels, (key) => isLabelValue(labels[key] ?? ""));
