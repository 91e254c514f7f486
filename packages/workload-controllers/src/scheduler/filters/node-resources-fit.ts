import type { Filter } from "./interface.ts";

const first = ["cpu", "memory", "ephemeral-storage"];

/** The node has room for one more pod and for what it requests. What is more than all that the node has is final. */
export const nodeResourcesFit: Filter = {
  name: "NodeResourcesFit",
  wokenBy: ["pod-removed", "pod-changed", "node-added", "node-changed"],
  prepare({ requests }) {
    const others = Object.keys(requests).filter((name) => !first.includes(name));
    const wanted = [...first, ...others]
      .map((name) => ({ name, amount: requests[name] ?? 0 }))
      .filter(({ amount }) => amount > 0);
    return ({ allocatable, requested, pods }) => {
      const isFull = pods.size + 1 > (allocatable["pods"] ?? 0);
      const lacking = wanted.filter(({ name, amount }) => amount > (allocatable[name] ?? 0) - (requested[name] ?? 0));
      if (!isFull && lacking.length === 0) return undefined;
      return {
        reasons: [...(isFull ? ["Too many pods"] : []), ...lacking.map(({ name }) => `Insufficient ${name}`)],
        final: lacking.some(({ name, amount }) => amount > (allocatable[name] ?? 0)),
      };
    };
  },
};
