import type { Machine } from "@causeway/api";
import type { Condition, KubeObject } from "@causeway/kubernetes";
import { publicMessage } from "./public-text.ts";
import { outlookOf } from "./reasons.ts";

/** Why something does not become ready, by the condition of the object at fault. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  /** It does not pass by itself: a user or operator has to change something. */
  readonly isTerminal: boolean;
}

type WithConditions = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };
type Objects = readonly (KubeObject | undefined)[];

/**
 * The causes among these objects, in their order; those that do not pass by themselves come before the others. One that
 * several report, as a node reports its server's, is the first one's.
 */
export function allFindings(objects: Objects): readonly Finding[] {
  const found = objects.flatMap((object) => (object === undefined ? [] : findingsOf(object)));
  const sorted = [...found.filter(({ isTerminal }) => isTerminal), ...found.filter(({ isTerminal }) => !isTerminal)];
  const known = new Set<string>();
  return sorted.filter(({ code, text }) => {
    const isNew = !known.has(`${code} ${text}`);
    known.add(`${code} ${text}`);
    return isNew;
  });
}

/** The first cause among these objects. */
export const firstFinding = (objects: Objects): Finding | undefined => allFindings(objects)[0];

function findingsOf(object: WithConditions): readonly (Finding & { readonly text: string })[] {
  return (object.status?.conditions ?? [])
    .filter(({ status, reason }) => status === "False" && outlookOf.get(reason) !== "passes")
    .filter(({ type, message }) => type !== "Paused" && type !== "Deleting" && message !== undefined && message !== "")
    .map((condition) => {
      const text = publicMessage(object, condition).slice(0, 1_000);
      const isTerminal = outlookOf.get(condition.reason) === "remains";
      return { code: condition.reason, message: `${subjectOf(object)}: ${text}`, isTerminal, text };
    });
}

/** What users of a project know the object as: a server and a node by name, of the others a cluster has one. */
function subjectOf(object: KubeObject): string {
  const { kind, metadata } = object;
  if (kind === "OpenStackMachine") return `server ${metadata.name}`;
  if (kind === "Machine") return `node ${(object as Machine).status?.nodeRef?.name ?? metadata.name}`;
  if (kind === "OpenStackCluster") return "network";
  return kind === "HostedControlPlane" ? "control plane" : "cluster";
}
