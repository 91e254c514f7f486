import type { L7PolicyCreate } from "@causeway/openstack";
import type { DesiredPolicy } from "./desired.ts";
import { firstByName, policyName, ruleText, type ObservedPolicy } from "./policy-key.ts";
import type { PolicyStep } from "./steps.ts";

/** The L7 policies that a listener is to have. */
export interface PolicyGoal {
  readonly listenerId: string;
  /** In this order. */
  readonly wanted: readonly DesiredPolicy[];
  readonly description: string;
  /** The id of a pool by its name; undefined: it does not exist yet. */
  readonly poolId: (name: string) => string | undefined;
  /** A policy that the goal does not name is deleted only if this is true of it. */
  readonly owns: (policy: ObservedPolicy) => boolean;
}

/** One wanted policy, and what is observed of it. */
interface Pair {
  readonly name: string;
  readonly wanted: DesiredPolicy;
  readonly found: ObservedPolicy | undefined;
}

/** Represents a policy in the order while it has no id yet. */
const NEW = "";

/**
 * The changes of a listener's policies: new ones first, then the order, then what is no longer wanted. A policy with
 * several rules is switched on when it has all of them, because a policy with some of its rules matches too many
 * requests.
 */
export function* policyChanges(observed: readonly ObservedPolicy[], goal: PolicyGoal): Generator<PolicyStep> {
  const { listenerId } = goal;
  const pairs = paired(observed, goal.wanted);
  const kept = new Set(pairs.map(({ found }) => found?.policy.id));
  const order = observed.toSorted((a, b) => a.policy.position - b.policy.position).map(({ policy }) => policy.id);
  for (const { wanted, found } of pairs) if (found) yield* settings(found, wanted, goal);
  let before: string | undefined;
  for (const { name, wanted, found } of pairs) {
    if (found) {
      before = found.policy.id;
      continue;
    }
    const at = placeAfter(order, before);
    order.splice(at, 0, NEW);
    const body = createBody({ name, wanted }, goal, at + 1);
    if (body) yield { type: "create-policy", listenerId, body };
  }
  yield* moves(
    pairs.flatMap(({ found }) => found?.policy.id ?? []),
    order,
    listenerId,
  );
  for (const each of observed)
    if (!kept.has(each.policy.id) && goal.owns(each)) yield { type: "delete-policy", listenerId, id: each.policy.id };
}

/**
 * By name or by rules: upstream's policies have no names. A policy of the same name with other rules than the name says
 * is not it.
 */
function paired(observed: readonly ObservedPolicy[], wanted: readonly DesiredPolicy[]): Pair[] {
  const byName = firstByName(wanted);
  const free = new Map<string, ObservedPolicy>();
  for (const each of observed.toSorted((a, b) => a.policy.position - b.policy.position)) {
    if (each.policy.provisioning_status === "PENDING_DELETE") continue;
    const { name } = each.policy;
    const named = byName.get(name);
    const key = named && isPart(each, named) ? name : each.rules && policyName({ rules: each.rules });
    if (key !== undefined && !free.has(key)) free.set(key, each);
  }
  return [...byName].map(([name, policy]) => ({ name, wanted: policy, found: free.get(name) }));
}

/** Has it no rules but wanted ones? */
function isPart({ rules }: ObservedPolicy, wanted: DesiredPolicy): boolean {
  const texts = new Set(wanted.rules.map(ruleText));
  return rules?.every((rule) => texts.has(ruleText(rule))) !== false;
}

/** Its missing rules, and then its other fields with the switch. */
function* settings({ policy, rules }: ObservedPolicy, wanted: DesiredPolicy, goal: PolicyGoal): Generator<PolicyStep> {
  const { listenerId } = goal;
  const texts = new Set(rules?.map(ruleText));
  const missing = rules ? wanted.rules.filter((rule) => !texts.has(ruleText(rule))) : [];
  for (const body of missing) yield { type: "create-rule", listenerId, policyId: policy.id, body };
  const pool = wanted.pool === undefined ? null : goal.poolId(wanted.pool);
  if (pool === undefined) return;
  const target = {
    ...(policy.redirect_pool_id === pool || pool === null ? {} : { redirect_pool_id: pool }),
    ...(wanted.url === undefined || policy.redirect_url === wanted.url ? {} : { redirect_url: wanted.url }),
    ...(wanted.prefix === undefined || policy.redirect_prefix === wanted.prefix
      ? {}
      : { redirect_prefix: wanted.prefix }),
    ...(wanted.code === undefined || policy.redirect_http_code === wanted.code
      ? {}
      : { redirect_http_code: wanted.code }),
  };
  const change = {
    ...(policy.action === wanted.action ? {} : { action: wanted.action }),
    ...target,
    ...(policy.admin_state_up ? {} : { admin_state_up: true }),
  };
  if (Object.keys(change).length > 0) yield { type: "update-policy", listenerId, id: policy.id, change };
}

/** Undefined: its pool does not exist yet. */
function createBody(
  { name, wanted }: Pick<Pair, "name" | "wanted">,
  goal: PolicyGoal,
  position: number,
): L7PolicyCreate | undefined {
  const pool = wanted.pool === undefined ? undefined : goal.poolId(wanted.pool);
  if (wanted.pool !== undefined && pool === undefined) return undefined;
  return {
    listener_id: goal.listenerId,
    name,
    ...policyFields(wanted, goal.description),
    position,
    ...(pool === undefined ? {} : { redirect_pool_id: pool }),
    // One without rules matches nothing: it needs no switch for its first rule.
    ...(wanted.rules.length > 1 ? { admin_state_up: false } : {}),
  };
}

/** What a create says of a policy, except its place and its pool. */
export function policyFields(
  { action, url, prefix, code }: DesiredPolicy,
  description: string,
): Pick<L7PolicyCreate, "action" | "description" | "redirect_url" | "redirect_prefix" | "redirect_http_code"> {
  return {
    action,
    description,
    ...(url === undefined ? {} : { redirect_url: url }),
    ...(prefix === undefined ? {} : { redirect_prefix: prefix }),
    ...(code === undefined ? {} : { redirect_http_code: code }),
  };
}

function placeAfter(order: readonly string[], before: string | undefined): number {
  return before === undefined ? 0 : order.indexOf(before) + 1;
}

/**
 * Moves as few as possible: those that are not on the longest run which is in order already. Octavia counts from one.
 */
function* moves(wanted: readonly string[], order: readonly string[], listenerId: string): Generator<PolicyStep> {
  const at = new Map(order.map((id, i) => [id, i]));
  const still = longestRise(wanted.map((id) => at.get(id) ?? 0));
  const now = [...order];
  let before: string | undefined;
  for (const [i, id] of wanted.entries()) {
    if (!still.has(i)) {
      now.splice(now.indexOf(id), 1);
      const place = placeAfter(now, before);
      now.splice(place, 0, id);
      yield { type: "update-policy", listenerId, id, change: { position: place + 1 } };
    }
    before = id;
  }
}

/** The indexes of a longest strictly rising subsequence, in n log n. */
export function longestRise(numbers: readonly number[]): ReadonlySet<number> {
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [i, number] of numbers.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    previous[i] = ends[low - 1];
    ends[low] = i;
  }
  const found = new Set<number>();
  for (let i = ends.at(-1); i !== undefined; i = previous[i]) found.add(i);
  return found;
}
