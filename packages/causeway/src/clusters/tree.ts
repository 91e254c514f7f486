import type { Condition, KubeObject } from "@causeway/kubernetes";
import { age, columns } from "../terminal/columns.ts";

/** An object of a cluster and what it owns. */
export interface TreeNode {
  readonly object: KubeObject;
  readonly children: readonly TreeNode[];
}

/** A cluster's objects by their owners: first the references of the Cluster, then machines below their sets. */
export function treeOf(root: KubeObject, objects: readonly KubeObject[]): TreeNode {
  const below = (owner: KubeObject, path: ReadonlySet<string>): TreeNode[] =>
    objects
      .filter((o) => o.metadata.ownerReferences?.some((r) => r.uid === owner.metadata.uid) === true)
      .filter((o) => !path.has(o.metadata.uid ?? ""))
      .toSorted((a, b) => order(a).localeCompare(order(b)))
      .map((object) => ({ object, children: below(object, new Set([...path, object.metadata.uid ?? ""])) }));
  return { object: root, children: below(root, new Set([root.metadata.uid ?? ""])) };
}

const order = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

/** The tree with what each object's condition says: Available, else Ready. */
export function renderTree(root: TreeNode, now: number): string {
  const rows: string[][] = [];
  const add = (node: TreeNode, lead: string, branch: string): void => {
    const { kind, metadata } = node.object;
    const condition = summary(node.object);
    const lines = (condition?.message ?? "").split("\n").map((line) => line.replace(/^\* /, "").trim());
    const shown = condition?.status === "True" ? undefined : lines.find((line) => line !== "");
    rows.push([
      `${branch}${kind}/${metadata.name}`,
      condition?.status ?? "",
      condition?.status === "True" ? "" : (condition?.reason ?? ""),
      age(condition?.lastTransitionTime ?? metadata.creationTimestamp, now),
      shown ?? "",
    ]);
    node.children.forEach((child, i) => {
      const isLast = i === node.children.length - 1;
      add(child, `${lead}${isLast ? "  " : "│ "}`, `${lead}${isLast ? "└─" : "├─"}`);
    });
  };
  add(root, "", "");
  return columns(["NAME", "READY", "REASON", "SINCE", "MESSAGE"], rows);
}

function summary(object: KubeObject): Condition | undefined {
  const { status } = object as { status?: { conditions?: readonly Condition[] } };
  const conditions = status?.conditions ?? [];
  return conditions.find((c) => c.type === "Available") ?? conditions.find((c) => c.type === "Ready");
}
