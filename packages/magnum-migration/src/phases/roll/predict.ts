import type { Prediction, PhasePlan } from "../../phase.ts";
import type { RollFacts, RollPool, RollStart, RollStep } from "./plan.ts";

/** What phase roll reads after its next steps, or when what it waits for is there. Pure. */
export function predictRoll(
  facts: RollFacts,
  { steps, batch = 1, wait }: PhasePlan<RollStep>,
): Prediction<RollFacts> | undefined {
  if (steps.length === 0) return wait === undefined ? undefined : { facts: awaited(facts) };
  let known = facts;
  for (const step of steps.slice(0, batch)) known = after(known, step);
  return { facts: known };
}

function after(facts: RollFacts, step: RollStep): RollFacts {
  const { start, kubeProxy } = facts;
  switch (step.type) {
    case "set-kube-proxy":
      return { ...facts, kubeProxy: { ...kubeProxy, isChosen: true } };
    case "set-image":
      return { ...facts, ...started(start, { hasImage: true }) };
    case "set-kubelet-source":
      return { ...facts, ...started(start, { hasKubeletSource: true }) };
    case "restrict-node-plugin":
      return { ...facts, ...started(start, start && { nodePlugin: { ...start.nodePlugin, isRestricted: true } }) };
    case "write":
      return { ...facts, ...started(start, { outdated: start?.outdated.filter(({ index }) => index !== step.index) }) };
    case "hold":
    case "release":
      return withPools(facts, (pool) => ({
        ...pool,
        adopted: pool.adopted.map((one) =>
          one.name === step.machine ? { ...one, isHeld: step.type === "hold", progress: "" } : one,
        ),
      }));
    case "roll":
      return {
        ...withPools(facts, (pool) => (pool.name === step.pool ? { ...pool, isPaused: false } : pool)),
        start: undefined,
      };
  }
}

const started = (
  start: RollStart | undefined,
  changes: { readonly [K in keyof RollStart]?: RollStart[K] | undefined } | undefined,
): Pick<RollFacts, "start"> => ({ start: start && ({ ...start, ...changes } as RollStart) });

const withPools = (facts: RollFacts, change: (pool: RollPool) => RollPool): RollFacts => ({
  ...facts,
  pools: facts.pools.map((pool) => change(pool)),
});

/** kube-proxy works, or one more machine of the pool is replaced. */
function awaited(facts: RollFacts): RollFacts {
  const rolling = facts.pools.find((pool) => pool.adopted.length > 0 || pool.fresh < pool.replicas);
  if (rolling === undefined || (rolling.isPaused && rolling.adopted.length > 0))
    return { ...facts, kubeProxy: { ...facts.kubeProxy, unapplied: undefined, unhealthy: undefined } };
  if (facts.problems.length > 0) return { ...facts, problems: [] };
  return withPools(facts, (pool) => (pool === rolling ? replaced(pool) : pool));
}

/** What is being drained is gone, and the next one is deleted, since one more new node is ready. */
function replaced(pool: RollPool): RollPool {
  const left = pool.adopted.filter(({ isHeld, isDeleting }) => isHeld || !isDeleting);
  const next = left.find(({ isDeleting }) => isDeleting) ?? left[0];
  return {
    ...pool,
    failure: undefined,
    fresh: left.length === 0 ? pool.replicas : Math.min(pool.replicas, pool.fresh + 1),
    adopted: left.map((one) => (one === next ? { ...one, isDeleting: true } : one)),
  };
}
