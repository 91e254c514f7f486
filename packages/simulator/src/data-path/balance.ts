import { createHash } from "node:crypto";
import type { Backend, BackendMember } from "./model.ts";

/** Sessions that a stick table holds, as Octavia configures it (10k); the oldest goes first. */
const STICK_SIZE = 10_240;

/** What is remembered of a pool between requests. */
export class PoolMemory {
  readonly #current = new Map<string, number>();
  readonly #active = new Map<string, number>();
  readonly #stick = new Map<string, string>();

  /** The member that the algorithm gives, of those that may be used; `except` have just refused. */
  choose(pool: Backend, source: string, except: ReadonlySet<string> = new Set()): BackendMember | undefined {
    const usable = usableMembers(pool).filter(({ id }) => !except.has(id));
    if (pool.algorithm === "SOURCE_IP") return bySource(usable, source);
    return pool.algorithm === "LEAST_CONNECTIONS" ? this.#leastConnections(usable) : this.#roundRobin(usable);
  }

  /** Smooth weighted round robin. */
  #roundRobin(members: readonly BackendMember[]): BackendMember | undefined {
    let best: BackendMember | undefined;
    let total = 0;
    for (const member of members) {
      const current = (this.#current.get(member.id) ?? 0) + member.weight;
      this.#current.set(member.id, current);
      total += member.weight;
      if (!best || current > (this.#current.get(best.id) ?? 0)) best = member;
    }
    if (best) this.#current.set(best.id, (this.#current.get(best.id) ?? 0) - total);
    return best;
  }

  #leastConnections(members: readonly BackendMember[]): BackendMember | undefined {
    const load = ({ id, weight }: BackendMember): number => (this.#active.get(id) ?? 0) / weight;
    const least = Math.min(...members.map(load));
    return this.#roundRobin(members.filter((member) => load(member) === least));
  }

  /** Counts a connection to a member; the answer ends it. */
  connected({ id }: BackendMember): () => void {
    this.#active.set(id, (this.#active.get(id) ?? 0) + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      const left = (this.#active.get(id) ?? 1) - 1;
      if (left === 0) this.#active.delete(id);
      else this.#active.set(id, left);
    };
  }

  /** The member that a session is with; undefined where it cannot be used any more. Weight 0 keeps its sessions. */
  stuck({ members }: Backend, key: string): BackendMember | undefined {
    const id = this.#stick.get(key);
    return members.find((member) => member.id === id && !member.down);
  }

  stick(key: string, { id }: BackendMember): void {
    this.#stick.delete(key);
    this.#stick.set(key, id);
    const [oldest] = this.#stick.keys();
    if (this.#stick.size > STICK_SIZE && oldest !== undefined) this.#stick.delete(oldest);
  }
}

/** Those that take new sessions; backups only when no other does. */
function usableMembers({ members }: Backend): readonly BackendMember[] {
  const up = members.filter(({ down, weight }) => !down && weight > 0);
  const active = up.filter(({ backup }) => !backup);
  return active.length > 0 || members.some(({ down, backup }) => !down && !backup) ? active : up;
}

/** A source address is always with the same member while the members are the same. */
function bySource(members: readonly BackendMember[], source: string): BackendMember | undefined {
  const total = members.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return undefined;
  let left = createHash("sha256").update(source).digest().readUInt32BE() % total;
  return members.find(({ weight }) => (left -= weight) < 0);
}
