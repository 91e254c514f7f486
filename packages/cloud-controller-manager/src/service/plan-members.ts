import type { Member, MemberCreate } from "@causeway/openstack";
import type { DesiredPort } from "./desired.ts";
import type { ObservedPool } from "./pool-details.ts";
import type { MemberCosts } from "./provider.ts";
import type { TreeStep } from "./steps.ts";

/**
 * The next change of a pool's members: one batch of all, or one member at a time where the provider takes no batch or where
 * naming what stays costs more than that. On OVN it does: its batch works on every member that it names, and an additive batch on
 * every member that is there (both half a minute beside 40 members, where one member alone takes two seconds).
 */
export function memberChange({ pool, members }: ObservedPool, port: DesiredPort): TreeStep | undefined {
  const alive = members.filter(isAlive);
  const missing = port.members.filter((wanted) => !alive.some((m) => sameMember(m, wanted)));
  const extra = alive.filter((m) => !port.members.some((wanted) => sameMember(m, wanted)));
  const changed = missing.length + extra.length;
  if (changed === 0) return undefined;
  if (!port.serial && !isSinglyCheaper({ changed, kept: alive.length - extra.length }, port.memberCosts))
    return { type: "replace-members", poolId: pool.id, members: withWeights(members, port.members) };
  const [gone] = extra;
  const [fresh] = missing;
  if (gone) return { type: "delete-member", id: gone.id, poolId: pool.id };
  if (!fresh) return undefined;
  const serialName = `member_${fresh.name}_${fresh.address}_${fresh.protocol_port}`.slice(0, 255);
  return { type: "create-member", poolId: pool.id, body: port.serial ? { ...fresh, name: serialName } : fresh };
}

/** Whether so many changes of a pool's members cost less one by one than as a batch that also names those that stay. */
export function isSinglyCheaper({ changed, kept }: { changed: number; kept: number }, costs: MemberCosts): boolean {
  return changed * (costs.single + costs.cycle) < costs.cycle + kept * costs.kept + changed * costs.changed;
}

function sameMember(a: Member, b: MemberCreate): boolean {
  return checkedPlace(a) === checkedPlace(b);
}

function checkedPlace(member: Member | MemberCreate): string {
  return `${place(member)} ${member.monitor_port ?? ""}`;
}

/** A batch sets what it does not name to the default: what a person changed by hand is said again. */
function withWeights(have: readonly Member[], want: readonly MemberCreate[]): MemberCreate[] {
  const known = new Map(have.filter(isAlive).map((m) => [place(m), m]));
  return want.map((member) => {
    const { weight = 1, backup = false } = known.get(place(member)) ?? {};
    return { ...member, ...(weight === 1 ? {} : { weight }), ...(backup ? { backup } : {}) };
  });
}

function place({ address, protocol_port }: { address: string; protocol_port: number }): string {
  return `${address} ${protocol_port}`;
}

function isAlive(member: Member): boolean {
  return member.provisioning_status !== "PENDING_DELETE" && member.provisioning_status !== "DELETED";
}
