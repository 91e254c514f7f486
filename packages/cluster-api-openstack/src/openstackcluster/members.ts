import { labels, type OpenStackMachine } from "@causeway/api";
import type { Member, MemberCreate, Subnet } from "@causeway/openstack";
import { parseCidr } from "../resources/cidr.ts";
import type { ClusterContext } from "./model.ts";

/**
 * Milliseconds from the deletion of a control-plane machine within which its member may remain for others to serve
 * first, and within which its server waits for the member to be removed.
 */
export const MEMBER_LEAVES_WITHIN = 5 * 60_000;

/** What decides about members: the machines, the tags that members get, and the moment. */
type MembersContext = Pick<ClusterContext, "machines" | "leaving" | "tags" | "now">;

/** The members of a pool as they are to be, and the machines on their way out among them. */
export interface DesiredMembers {
  readonly members: readonly MemberCreate[];
  /** Names of the machines on their way out whose members remain until others serve. */
  readonly kept: readonly string[];
}

/** Whether label cluster.x-k8s.io/control-plane is there, whatever its value: such a machine serves the API. */
export function isControlPlane(machine: OpenStackMachine): boolean {
  return machine.metadata.labels?.[labels.controlPlane] !== undefined;
}

/**
 * Whether the states of members decide: some control-plane machines go, and others remain, which are to serve first.
 * Where all of them go nothing waits for a state.
 */
export function dependsOnStates({ machines, leaving }: Pick<MembersContext, "machines" | "leaving">): boolean {
  const all = machines.filter(isControlPlane);
  const going = all.filter((machine) => isDeleted(machine) || leaving?.has(machine.metadata.name) === true);
  return going.length > 0 && going.length < all.length;
}

/**
 * One member per control-plane machine that runs and has an address on the cluster's network. The member of a deleted
 * machine remains while it serves and the others do not yet, for `MEMBER_LEAVES_WITHIN`; that of a machine which leaves
 * the control plane before it is deleted (`context.leaving`), until then; and that of a machine which is still to be
 * read. `present`: the members that the pool has.
 */
export function desiredMembers(
  context: MembersContext,
  pool: { readonly name: string; readonly port: number; readonly present: readonly Member[] },
  subnets: readonly Subnet[],
): DesiredMembers {
  const machines = context.machines.filter(isControlPlane).flatMap((machine) => {
    const address = addressOn(machine, subnets);
    return address === undefined ? [] : [{ machine, address, member: pool.present.find((m) => m.address === address) }];
  });
  const isLeaving = ({ metadata }: OpenStackMachine) => context.leaving?.has(metadata.name) === true;
  const isStaying = (machine: OpenStackMachine) => !isDeleted(machine) && !isLeaving(machine);
  const running = machines.filter(({ machine }) => isStaying(machine) && isRunning(machine));
  const others = context.machines.filter((m) => isControlPlane(m) && isStaying(m));
  const isCovered = running.some(({ member }) => serves(member)) && !running.some(({ member }) => isComing(member));
  const kept = isCovered
    ? []
    : machines.filter(({ machine, member }) =>
        // Their control plane still needs the API, of the last machines until these are deleted.
        isLeaving(machine) && !isDeleted(machine)
          ? member !== undefined && (others.length === 0 || serves(member))
          : others.length > 0 && leavesLater(machine, context.now) && serves(member),
      );
  const nameOf = ({ metadata }: OpenStackMachine) => `${pool.name}-${metadata.name}`;
  const unread = context.machines
    .filter((machine) => isControlPlane(machine) && isStaying(machine) && isUnread(machine))
    .flatMap((machine) => {
      const address = pool.present.find(({ name }) => name === nameOf(machine))?.address;
      return address === undefined ? [] : [{ machine, address }];
    });
  return {
    members: [...running, ...kept, ...unread]
      .map(({ machine, address }) => ({
        address,
        protocol_port: pool.port,
        name: nameOf(machine),
        tags: [...context.tags],
      }))
      .sort((a, b) => a.address.localeCompare(b.address)),
    kept: kept.map(({ machine }) => machine.metadata.name),
  };
}

function addressOn({ status }: OpenStackMachine, subnets: readonly Subnet[]): string | undefined {
  const internal = (status?.addresses ?? []).filter((a) => a.type === "InternalIP").map((a) => a.address);
  return internal.find((a) => subnets.some((s) => parseCidr(s.cidr)?.contains(a)));
}

function isDeleted({ metadata }: OpenStackMachine): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/**
 * It has a server, of which nothing was read so far: clusterctl moves objects without their status. Its member is known
 * by its name until then.
 */
function isUnread({ spec, status }: OpenStackMachine): boolean {
  return spec.providerID !== undefined && status?.instanceState === undefined && !status?.initialization?.provisioned;
}

/** Deleted, and not so long ago that its member must go whatever the others do. */
function leavesLater({ metadata }: OpenStackMachine, now: number): boolean {
  return (
    metadata.deletionTimestamp !== undefined && now < Date.parse(metadata.deletionTimestamp) + MEMBER_LEAVES_WITHIN
  );
}

/** Octavia sends connections to it. Without a monitor its state is NO_MONITOR. */
function serves(member: Member | undefined): boolean {
  if (member?.provisioning_status !== "ACTIVE" && member?.provisioning_status !== "PENDING_UPDATE") return false;
  return member.operating_status === "ONLINE" || member.operating_status === "NO_MONITOR";
}

/**
 * It is still to be created, or its first health check has not succeeded. A member that an operator switched off is
 * not.
 */
function isComing(member: Member | undefined): boolean {
  if (member === undefined) return true;
  if (member.admin_state_up === false) return false;
  return member.provisioning_status === "PENDING_CREATE" || member.operating_status === "OFFLINE";
}

/**
 * Upstream's provider (v0.14) records no state of the server: a machine that it provisioned serves until ours has
 * read it.
 */
function isRunning({ status }: OpenStackMachine): boolean {
  return status?.instanceState === undefined
    ? status?.initialization?.provisioned === true
    : status.instanceState === "ACTIVE";
}
