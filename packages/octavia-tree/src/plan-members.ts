import type { Member, MemberCreate, MemberUpdate } from "@causeway/openstack";
import type { DesiredPool, Upkeep } from "./desired.ts";
import type { ObservedPool } from "./pool-details.ts";
import type { MemberCosts } from "./provider.ts";
import type { MemberStep } from "./steps.ts";

/**
 * The next change of a pool's members: one batch of all, or one member at a time where the provider takes no batch or
 * where naming what remains costs more than that. On OVN it does: its batch works on every member that it names, and an
 * additive batch on every member that is there (both half a minute next to 40 members, where one member alone takes two
 * seconds). `upkeep` "access": a member's weight, state and monitor are left as they are.
 */
export function memberChange(
  { pool, members }: Pick<ObservedPool, "pool" | "members">,
  port: Pick<DesiredPool, "members" | "serial" | "memberCosts">,
  upkeep: Upkeep = "all",
): MemberStep | undefined {
  // By place: a pool of a thousand members is compared with as many nodes whenever a node changes.
  const alive = new Map(members.filter(isAlive).map((member) => [place(member), member]));
  const desired = new Map(port.members.map((member) => [place(member), member]));
  const missing = [...desired].flatMap(([at, member]) => (alive.has(at) ? [] : [member]));
  const extra = [...alive].flatMap(([at, member]) => (desired.has(at) ? [] : [member]));
  const altered = alterations(alive, desired, { serial: port.serial, upkeep });
  const changed = missing.length + extra.length + altered.length;
  if (changed === 0) return undefined;
  if (!port.serial && !isSinglyCheaper({ changed, kept: alive.size - extra.length }, port.memberCosts))
    return { type: "replace-members", poolId: pool.id, members: righted(port.members, altered) };
  const [gone] = extra;
  const [fresh] = missing;
  const [odd] = altered;
  const more = changed > 1 ? { more: true as const } : {};
  if (gone) return { type: "delete-member", id: gone.id, poolId: pool.id, ...more };
  if (odd) return { type: "update-member", id: odd.id, poolId: pool.id, change: odd.change, ...more };
  if (!fresh) return undefined;
  const serialName = `member_${fresh.name}_${fresh.address}_${fresh.protocol_port}`.slice(0, 255);
  return {
    type: "create-member",
    poolId: pool.id,
    body: port.serial ? { ...fresh, name: serialName } : fresh,
    ...more,
  };
}

interface Alteration {
  readonly id: string;
  readonly place: string;
  /** What makes it as it is to be. */
  readonly change: MemberUpdate;
}

/** Members that remain, but not as they are: another node's, checked elsewhere, or changed by hand. */
function alterations(
  alive: ReadonlyMap<string, Member>,
  desired: ReadonlyMap<string, MemberCreate>,
  { serial, upkeep }: { readonly serial: boolean; readonly upkeep: Upkeep },
): Alteration[] {
  const differences = upkeep === "all" ? alteration : renaming;
  return [...desired].flatMap(([at, wanted]) => {
    const have = alive.get(at);
    const change = have ? differences(have, serial ? { ...wanted, name: have.name } : wanted) : {};
    return have && Object.keys(change).length > 0 ? [{ id: have.id, place: at, change }] : [];
  });
}

function alteration(have: Partial<Member>, wanted: MemberCreate): MemberUpdate {
  const { weight = 1, backup = false, admin_state_up: up = true, monitor_port: port = null } = have;
  const { monitor_port: wantedPort = null, weight: wantedWeight = 1 } = wanted;
  return {
    ...(weight === wantedWeight ? {} : { weight: wantedWeight }),
    ...(backup ? { backup: false } : {}),
    ...(up ? {} : { admin_state_up: true }),
    ...(port === wantedPort ? {} : { monitor_port: wantedPort }),
    ...renaming(have, wanted),
  };
}

function renaming({ name = "" }: Partial<Member>, wanted: MemberCreate): Pick<MemberUpdate, "name"> {
  return wanted.name === undefined || name === wanted.name ? {} : { name: wanted.name };
}

/**
 * A batch leaves as it is what it does not name (a monitor's port; Octavia's defaults are weight, backup and state
 * alone): it is named.
 */
function righted(wanted: readonly MemberCreate[], altered: readonly Alteration[]): readonly MemberCreate[] {
  const changes = new Map(altered.map((each) => [each.place, each.change]));
  return wanted.map((member) => ({ ...member, ...changes.get(place(member)) }));
}

/**
 * Whether so many changes of a pool's members cost less one by one than as a batch that also names those that remain.
 */
export function isSinglyCheaper({ changed, kept }: { changed: number; kept: number }, costs: MemberCosts): boolean {
  return changed * (costs.single + costs.cycle) < costs.cycle + kept * costs.kept + changed * costs.changed;
}

function place({ address, protocol_port }: { address: string; protocol_port: number }): string {
  return `${address} ${protocol_port}`;
}

function isAlive(member: Member): boolean {
  return member.provisioning_status !== "PENDING_DELETE" && member.provisioning_status !== "DELETED";
}
