import { createHash } from "node:crypto";
import { parseBoundedJson } from "@causeway/foundation";
import type { Member, MemberCreate } from "@causeway/openstack";

/** The members of one pool at the time when its entry had this digest. */
export interface RecordedPool {
  readonly digest: string;
  /** The members as text, without what pools of one set of nodes differ in. */
  readonly set: string;
  /** Of all members; 0: the set has the port of each. */
  readonly port: number;
}

/** A ConfigMap has 1 MiB at most. Pools beyond this are left out: their members are read at the next start. */
const MOST_BYTES = 900_000;
const VERSION = 1;

/** 20 characters that represent a pool's entry in a list: another digest means that the pool has changed. */
export function digestOf(entry: string): string {
  return createHash("sha256").update(entry).digest("base64url").slice(0, 20);
}

/** Undefined: a member has something that is not recorded. Such a pool is read at each start. */
export function recordOf(entry: string, members: readonly Member[]): RecordedPool | undefined {
  if (!members.every(isPlain)) return undefined;
  const ports = new Set(members.map(({ protocol_port: port }) => port));
  const [port = 0] = ports.size === 1 ? ports : [];
  const own = (member: Member): number => (port === 0 ? member.protocol_port : 0);
  const rows = members.map((each) => JSON.stringify([each.address, each.name ?? "", each.weight, own(each)])).sort();
  return { digest: digestOf(entry), set: `[${rows.join()}]`, port };
}

function isPlain(member: Partial<Member>): boolean {
  const { backup = false, admin_state_up: up = true, monitor_port: port, monitor_address: address } = member;
  return !backup && up && (port ?? null) === null && (address ?? null) === null && typeof member.weight === "number";
}

/** The members of a recorded pool; undefined when the text is not one that `recordOf` writes. */
export function membersOf({ set, port }: RecordedPool): MemberCreate[] | undefined {
  const rows = parsed(set, 2);
  if (!Array.isArray(rows)) return undefined;
  const members: MemberCreate[] = [];
  for (const row of rows as readonly unknown[]) {
    if (!Array.isArray(row)) return undefined;
    const [address, name, weight, own] = row as readonly unknown[];
    if (typeof address !== "string" || typeof name !== "string" || typeof weight !== "number") return undefined;
    if (typeof own !== "number") return undefined;
    members.push({ address, name, weight, protocol_port: port === 0 ? own : port });
  }
  return members;
}

/** Text of the pools; each set of members is written once. */
export function encodePools(cluster: string, pools: ReadonlyMap<string, RecordedPool>, most = MOST_BYTES): string {
  const sets = new Map<string, number>();
  const rows: unknown[] = [];
  let bytes = 0;
  for (const [id, { digest, set, port }] of pools) {
    const known = sets.get(set);
    const row = [id, digest, known ?? sets.size, port];
    const more = size(row) + (known === undefined ? size(set) : 0);
    if (bytes + more > most) continue;
    bytes += more;
    if (known === undefined) sets.set(set, sets.size);
    rows.push(row);
  }
  return JSON.stringify({ version: VERSION, cluster, sets: [...sets.keys()], pools: rows });
}

function size(part: unknown): number {
  return Buffer.byteLength(JSON.stringify(part)) + 1;
}

/** The pools of a text, as far as it is of this cluster and this version. What is damaged is left out. */
export function decodePools(cluster: string, text: string): Map<string, RecordedPool> {
  const found = new Map<string, RecordedPool>();
  const read = parsed(text, 3);
  if (typeof read !== "object" || read === null) return found;
  const { version, cluster: whose, sets, pools } = read as Readonly<Record<string, unknown>>;
  if (version !== VERSION || whose !== cluster || !Array.isArray(sets) || !Array.isArray(pools)) return found;
  for (const row of pools as readonly unknown[]) {
    if (!Array.isArray(row)) continue;
    const [id, digest, at, port] = row as readonly unknown[];
    if (typeof id !== "string" || typeof digest !== "string" || typeof at !== "number" || typeof port !== "number")
      continue;
    const set: unknown = sets[at];
    if (typeof set === "string") found.set(id, { digest, set, port });
  }
  return found;
}

function parsed(text: string, depth: number): unknown {
  try {
    return parseBoundedJson(text, depth);
  } catch {
    return undefined;
  }
}
