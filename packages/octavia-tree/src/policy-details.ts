import { unlessAborted } from "@causeway/foundation";
import type { Cloud, L7Policy, L7Rule, Listener } from "@causeway/openstack";
import { rulesNamed, type ObservedPolicy } from "./policy-key.ts";

interface Kept {
  readonly entry: string;
  readonly policies: readonly ObservedPolicy[];
  /** We wrote since the entry was read: the next entry is believed if it has the same policies. */
  readonly written: boolean;
}

/** So many listeners at once cost less by one list of the project's policies. */
const MANY = 3;

/**
 * L7 policies and their rules, which no list of listeners contains. They are read once for each listener, and again when the listener's own
 * entry (its policies' ids, its time of change) differs. What we wrote is not read. The rules of a policy are read unless its name proves them.
 */
export class PolicyDetails {
  readonly #cloud: Cloud;
  readonly #kept = new Map<string, Kept>();
  /** Listeners whose policies the next list is to contain. */
  #batch: { readonly ids: Set<string>; readonly list: Promise<readonly L7Policy[]> } | undefined;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  async of(listener: Listener, signal: AbortSignal): Promise<readonly ObservedPolicy[]> {
    const entry = entryOf(listener);
    const before = this.#kept.get(listener.id);
    if (before && (before.entry === entry || (before.written && hasSame(listener, before)))) {
      if (before.entry !== entry && listener.provisioning_status === "ACTIVE")
        this.#kept.set(listener.id, { entry, policies: before.policies, written: false });
      return before.policies;
    }
    const policies = await this.#read(listener, signal);
    this.#kept.set(listener.id, { entry, policies, written: false });
    return policies;
  }

  async #read(listener: Listener, signal: AbortSignal): Promise<ObservedPolicy[]> {
    if ((listener.l7policies ?? []).length === 0) return [];
    const { loadBalancing } = this.#cloud;
    const policies = await unlessAborted(this.#list(listener.id), signal);
    const read: ObservedPolicy[] = [];
    for (const policy of policies)
      read.push({
        policy,
        rules: isProved(policy) ? undefined : await loadBalancing.l7Rules(policy.id).all({}, { signal }),
      });
    return read;
  }

  /** Callers of one moment share a list: of one listener, or of the project where they are many. It begins after the last of them called. */
  async #list(listenerId: string): Promise<readonly L7Policy[]> {
    if (!this.#batch) {
      const ids = new Set<string>();
      this.#batch = { ids, list: this.#listSoon(ids) };
    }
    this.#batch.ids.add(listenerId);
    const found = await this.#batch.list;
    return found.filter((policy) => policy.listener_id === listenerId);
  }

  async #listSoon(ids: ReadonlySet<string>): Promise<readonly L7Policy[]> {
    await new Promise((done) => setImmediate(done));
    this.#batch = undefined;
    const { l7Policies } = this.#cloud.loadBalancing;
    if (ids.size >= MANY) return l7Policies.all({ project_id: await this.#cloud.projectId() });
    const lists = [...ids].map((id) => l7Policies.all({ listener_id: id }));
    return (await Promise.all(lists)).flat();
  }

  /** The cloud accepted a change of ours: what is kept becomes what `change` makes of it. */
  wrote(listenerId: string, change: (before: readonly ObservedPolicy[]) => readonly ObservedPolicy[]): void {
    const before = this.#kept.get(listenerId);
    if (before) this.#kept.set(listenerId, { ...before, policies: change(before.policies), written: true });
  }

  /** What was read before is old, whatever the entry says. */
  forget(listenerId: string): void {
    this.#kept.delete(listenerId);
  }
}

function entryOf({ l7policies = [], updated_at }: Listener): string {
  return JSON.stringify([updated_at, l7policies.map(({ id }) => id).sort()]);
}

function hasSame({ l7policies = [] }: Listener, { policies }: Kept): boolean {
  const ids = new Set(l7policies.map(({ id }) => id));
  return ids.size === policies.length && policies.every(({ policy }) => ids.has(policy.id));
}

function isProved({ name, rules, provisioning_status: status }: L7Policy): boolean {
  return status === "ACTIVE" && rulesNamed(name) === rules.length;
}

/** A policy as it is after its create was accepted; the others make room for it. */
export function withPolicy(before: readonly ObservedPolicy[], made: L7Policy): ObservedPolicy[] {
  return placed([...before, { policy: { ...made, provisioning_status: "ACTIVE" }, rules: [] }], made.id, made.position);
}

/** The policies with one of them at that position, counted from one; each has the number of its place. */
export function placed(before: readonly ObservedPolicy[], id: string, position: number): ObservedPolicy[] {
  const others = inOrder(before.filter(({ policy }) => policy.id !== id));
  const own = before.filter(({ policy }) => policy.id === id);
  return numbered(others.toSpliced(position - 1, 0, ...own));
}

export function withoutPolicy(before: readonly ObservedPolicy[], id: string): ObservedPolicy[] {
  return numbered(inOrder(before.filter(({ policy }) => policy.id !== id)));
}

function inOrder(policies: readonly ObservedPolicy[]): ObservedPolicy[] {
  return policies.toSorted((a, b) => a.policy.position - b.policy.position);
}

function numbered(policies: readonly ObservedPolicy[]): ObservedPolicy[] {
  return policies.map(({ policy, rules }, i) => ({ policy: { ...policy, position: i + 1 }, rules }));
}

export function withRule(before: readonly ObservedPolicy[], policyId: string, rule: L7Rule): ObservedPolicy[] {
  return before.map((each) =>
    each.policy.id === policyId
      ? {
          policy: { ...each.policy, rules: [...each.policy.rules, { id: rule.id }] },
          rules: [...(each.rules ?? []), rule],
        }
      : each,
  );
}
