import type { DaemonSet, KubeObject, Node } from "@causeway/kubernetes";
import { cellOf, FIRST_CELL } from "../model/cell.ts";
import { labels } from "../model/names.ts";
import { computeGroups } from "../render/context.ts";
import type { Observed } from "./gather.ts";

type Seen = Pick<Observed, "deployment" | "objects" | "nodes">;

/**
 * Why the cells of a specification cannot be had with what there is; undefined: they can. Nova moves no host from one
 * cell to another, and forgets no cell that has records.
 */
export function cellRefusal(seen: Seen): string | undefined {
  if (seen.deployment.spec.cells === undefined && cellsThatRun(seen.objects).size === 0) return undefined;
  return removedCell(seen) ?? hostInTwoCells(seen);
}

/** The cell of a component's name: "cell2" of "nova-conductor-cell2". */
function cellOfName(component: string, first: string): string | undefined {
  if (component === first) return FIRST_CELL;
  return component.startsWith(`${first}-`) ? component.slice(first.length + 1) : undefined;
}

const componentOf = ({ metadata }: KubeObject): string => metadata.labels?.[labels.component] ?? "";

/** Further cells whose conductors exist. */
function cellsThatRun(objects: Seen["objects"]): ReadonlySet<string> {
  const found = [...objects.values()]
    .filter(({ kind }) => kind === "Deployment")
    .map((object) => cellOfName(componentOf(object), "nova-conductor"));
  return new Set(found.filter((cell) => cell !== undefined && cell !== FIRST_CELL) as string[]);
}

function removedCell({ deployment, objects }: Seen): string | undefined {
  const wanted = new Set((deployment.spec.cells ?? []).map(({ name }) => name));
  const missing = [...cellsThatRun(objects)].find((cell) => !wanted.has(cell));
  return missing === undefined
    ? undefined
    : `the cell ${missing} runs and is not in spec.cells: Nova's records of its servers are in its database. Add it to spec.cells again; without node groups it runs no servers`;
}

const hasAll = ({ metadata }: Node, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([key, value]) => metadata.labels?.[key] === value);

/** A node that is in groups of two cells, or in a group of another cell than that whose nova-compute it has. */
function hostInTwoCells({ deployment, objects, nodes }: Seen): string | undefined {
  const wanted = computeGroups(deployment.spec).map((group) => ({
    cell: cellOf(group),
    by: `group ${group.name}`,
    selector: group.nodeSelector,
  }));
  const existing = [...objects.values()].flatMap((object) => {
    const cell = object.kind === "DaemonSet" ? cellOfName(componentOf(object), "nova-compute") : undefined;
    if (cell === undefined || object.metadata.deletionTimestamp !== undefined) return [];
    const { nodeSelector = {} } = (object as DaemonSet).spec.template.spec as { nodeSelector?: Record<string, string> };
    return [{ cell, by: `DaemonSet ${object.metadata.name}`, selector: nodeSelector }];
  });
  for (const node of nodes) {
    const [first, ...others] = [...existing, ...wanted].filter(({ selector }) => hasAll(node, selector));
    const other = others.find(({ cell }) => cell !== first?.cell);
    if (first && other)
      return `node ${node.metadata.name} is in ${first.cell} by ${first.by}, and in ${other.cell} by ${other.by}: Nova moves no host from one cell to another. Leave it in ${first.cell}; or drain it, take it out of every group with the role Compute, delete its compute service in Nova, and add it to ${other.cell} then`;
  }
  return undefined;
}
