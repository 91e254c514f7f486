import type { BalancerState, L7Policy } from "../model.ts";

/**
 * Numbers a listener's policies from one, with this one at its place, or at the end where there is none so high; gives
 * it as it is then.
 */
export function placePolicy(state: BalancerState, policy: L7Policy, position: number): L7Policy {
  const others = inOrder(state, policy.listener_id).filter(({ id }) => id !== policy.id);
  number(state, others.toSpliced(position - 1, 0, policy));
  return state.policies.get(policy.id) ?? policy;
}

/** Numbers a listener's policies from one again, after one of them has gone. */
export const closeRanks = (state: BalancerState, listener: string): void => number(state, inOrder(state, listener));

function inOrder({ policies }: BalancerState, listener: string): L7Policy[] {
  return policies.by("listener_id", listener).toSorted((a, b) => a.position - b.position);
}

function number({ policies }: BalancerState, ordered: readonly L7Policy[]): void {
  for (const [place, { id }] of ordered.entries()) policies.update(id, { position: place + 1 });
}
