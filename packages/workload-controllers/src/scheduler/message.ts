import type { Evaluation } from "./evaluate.ts";

/** Why a pod is not scheduled, in kube-scheduler's words. */
export function unschedulableMessage(evaluation: Evaluation, nodes: number, preemption: string | undefined): string {
  if (nodes === 0) return "no nodes available to schedule pods";
  const { rejection, failures } = evaluation;
  const reasons = [...failures.values()].flatMap((failure) => failure.reasons);
  const why = rejection ? rejection.message : countReasons(reasons);
  const end = preemption === undefined ? "" : ` preemption: ${preemption}`;
  return `0/${nodes} nodes are available:${why === "" ? "" : ` ${why}.`}${end}`;
}

/** "0/3 nodes are available: 1 …, 2 …." */
export function nodesMessage(nodes: number, reasons: readonly string[]): string {
  const counted = countReasons(reasons);
  return `0/${nodes} nodes are available:${counted === "" ? "" : ` ${counted}.`}`;
}

function countReasons(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(", ");
}
