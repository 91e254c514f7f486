import type { PlannedEvent } from "@causeway/kubernetes";
import type { ComputeNode, NodeMaintenance, Observed } from "./model.ts";
import type { MaintenanceStep } from "./steps.ts";

/** Whether the drain of a node that runs services may end, and what a status says of it. */
export interface ControlVerdict {
  readonly may: boolean;
  readonly phase: NodeMaintenance["phase"];
  readonly message: string;
}

type Facts = Pick<Observed, "controls" | "quorums" | "held">;
type Is = (node: ComputeNode) => boolean;

/**
 * Drains of control nodes end one at a time, and only where every cluster of databases, of OVN and of brokers keeps its
 * majority without the node. By their names, but for those that have to wait for members. Pure.
 *
 * @param isDue No other rule holds the node: no turn comes after that of one that servers cannot leave.
 */
export function controlVerdicts({ controls, quorums, held }: Facts, isDue: Is): ReadonlyMap<string, ControlVerdict> {
  // Those that may be drained already are in maintenance until they are uncordoned.
  const under = controls.filter(({ name, cordoned }) => cordoned && !held.has(name));
  const waiting = controls.filter(({ name, cordoned, ready }) => cordoned && ready && held.has(name));
  // What does not run any more serves in no cluster.
  const off = controls.filter(({ cordoned, ready }) => cordoned && !ready);
  const verdicts = new Map<string, ControlVerdict>([...under, ...off].map(({ name }) => [name, granted]));
  // A drain that is not granted evicts what it may, too: members that it took away may leave another one first.
  const first = waiting.find((node) => isDue(node) && byQuorum(node.name, quorums).may)?.name;
  for (const { name } of waiting) {
    const away = [...under, ...controls.filter((other) => !other.ready)].find((other) => other.name !== name);
    const before = away?.name ?? (first === name ? undefined : first);
    verdicts.set(name, before === undefined ? byQuorum(name, quorums) : behind(before));
  }
  return verdicts;
}

const granted: ControlVerdict = {
  may: true,
  phase: "Empty",
  message: "it may be drained: every cluster has its majority without it",
};

const behind = (other: string): ControlVerdict => ({
  may: false,
  phase: "Waiting",
  message: `control node ${other} is in maintenance or away: its turn comes after it`,
});

function byQuorum(node: string, quorums: Observed["quorums"]): ControlVerdict {
  const problems = quorums.flatMap(({ component, size, members }) => {
    if (!members.some((member) => member.node === node)) return [];
    const left = members.filter((member) => member.isReady && member.node !== node).length;
    const majority = Math.floor(size / 2) + 1;
    return left >= majority ? [] : [`${component} would have ${left} of ${size} members, and needs ${majority}`];
  });
  if (problems.length === 0) return granted;
  const message = `without it ${problems.join("; ")}: uncordon it until they are back`;
  return { may: false, phase: "Blocked", message };
}

interface ControlPlan {
  readonly steps: readonly MaintenanceStep[];
  readonly states: readonly NodeMaintenance[];
  readonly events: readonly PlannedEvent[];
}

/** What is done with control nodes, those that run servers excepted: these have to be empty first. */
export function planControls(facts: Facts, verdicts: ReadonlyMap<string, ControlVerdict>, isCompute: Is): ControlPlan {
  const cordoned = facts.controls.flatMap((node) => {
    const verdict = verdicts.get(node.name);
    return verdict ? [{ node, verdict }] : [];
  });
  const own = cordoned.filter(({ node }) => !isCompute(node));
  return {
    steps: own
      .filter(({ node, verdict }) => verdict.may && facts.held.has(node.name))
      .map(({ node }): MaintenanceStep => ({ type: "release", name: node.name })),
    states: own.map(({ node, verdict: { phase, message } }) => ({
      node: node.name,
      phase,
      servers: 0,
      message: message.slice(0, 512),
    })),
    events: cordoned
      .filter(({ verdict }) => verdict.phase === "Blocked")
      .map(({ node, verdict }) => ({
        type: "Warning" as const,
        reason: "QuorumAtRisk",
        message: `node ${node.name} is not released for its drain: ${verdict.message}`.slice(0, 1000),
      })),
  };
}
