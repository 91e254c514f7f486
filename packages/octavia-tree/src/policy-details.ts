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
 * A list of the project's policies, and what it shows of listeners that were known before it began: their entries of
 * that time.
 */
interface Wide {
  readonly entries: Map<string, string>;
  readonly list: Promise<ReadonlyMap<string, readonly L7Policy[]>>;
}

/**
 * L7 policies and their rules, which no list of listeners contains. They are read once for each listener, and again
 * when the listener's own entry (its policies' ids, its time of change) differs. What we wrote is not read. The rules
 * of a policy are read unless its name proves them. A list of the project serves all listeners that were known when it
 * began, as long as they have the same entries.
 */
export class PolicyDetails {
  readonly #cloud: Cloud;
  readonly #kept = new Map<string, Kept>();
  /** Listeners whose policies the next list is to contain. */
  #batch: { readonly ids: Set<string>; readonly list: Promise<readonly L7Policy[]> } | undefined;
  readonly #listeners: () => readonly Listener[];
  #wide: Wide | undefined;

  /** `listeners` are all that are known at a moment. */
  constructor(cloud: Cloud, listeners: () => readonly Listener[] = () => []) {
    this.#cloud = cloud;
    this.#listeners = listeners;
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
    const policies = await unlessAborted(this.#found(listener), signal);
    const read: ObservedPolicy[] = [];
    for (const policy of policies)
      read.push({
        policy,
        rules: isProved(policy) ? undefined : await loadBalancing.l7Rules(policy.id).all({}, { signal }),
      });
    return read;
  }

  /** From the list of the project, if that was begun with this entry; else by a list. */
  async #found(listener: Listener): Promise<readonly L7Policy[]> {
    const wide = this.#wide;
    if (wide?.entries.get(listener.id) !== entryOf(listener)) return this.#list(listener.id);
    const found = (await wide.list).get(listener.id) ?? [];
    // Once for each listener: what is read again is read because it is old.
    const current = wide.entries.delete(listener.id);
    return current ? found : this.#list(listener.id);
  }

  /**
   * Callers of one moment share a list: of one listener, or of the project where they are many. It begins after the
   * last of them called.
   */
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
    if (ids.size >= MANY) return this.#listWide(ids);
    const lists = [...ids].map((id) => l7Policies.all({ listener_id: id }));
    return (await Promise.all(lists)).flat();
  }

  async #listWide(ids: ReadonlySet<string>): Promise<readonly L7Policy[]> {
    const { l7Policies } = this.#cloud.loadBalancing;
    const project_id = await this.#cloud.projectId();
    const others = this.#listeners().filter(({ id }) => !ids.has(id) && !this.#kept.has(id));
    const all = l7Policies.all({ project_id });
    const list = all.then((found) => Map.groupBy(found, (policy) => policy.listener_id));
    const wide = { entries: new Map(others.map((each) => [each.id, entryOf(each)])), list };
    this.#wide = wide;
    list.catch(() => this.#wide === wide && (this.#wide = undefined));
    return all;
  }

  /** The cloud accepted a change of ours: what is kept becomes what `change` makes of it. */
  wrote(listenerId: string, change: (before: readonly ObservedPolicy[]) => readonly ObservedPolicy[]): void {
    const before = this.#kept.get(listenerId);
    if (before) this.#kept.set(listenerId, { ...before, policies: change(before.policies), written: true });
    this.#wide?.entries.delete(listenerId);
  }

  /** What was read before is old, whatever the entry says. */
  forget(listenerId: string): void {
    this.#kept.delete(listenerId);
    this.#wide?.entries.delete(listenerId);
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

/** The policies after the delete of one was accepted; the others move up. */
export function withoutPolicy(before: readonly ObservedPolicy[], id: string): ObservedPolicy[] {
  return numbered(inOrder(before.filter(({ policy }) => policy.id !== id)));
}

function inOrder(policies: readonly ObservedPolicy[]): ObservedPolicy[] {
  return policies.toSorted((a, b) => a.policy.position - b.policy.position);
}

function numbered(policies: readonly ObservedPolicy[]): ObservedPolicy[] {
  return policies.map(({ policy, rules }, i) => ({ policy: { ...policy, position: i + 1 }, rules }));
}

/** The policies after the create of a rule was accepted. */
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
