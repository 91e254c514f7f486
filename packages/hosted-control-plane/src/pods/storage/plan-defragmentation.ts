import type { MemberStatus } from "../../etcd/maintenance.ts";
import type { Round, RoundObserved } from "./plan-round.ts";

/** A member copies what it has in use, and does not respond meanwhile. */
const LARGEST_COPY = 1024 * 2 ** 20;

/** The member to defragment, or the leader to move before. */
export function planDefragmentation(
  observed: RoundObserved,
  isAlarmed: boolean,
): Pick<Round, "defragment" | "moveLeader"> {
  const planned = defragmentation(observed, isAlarmed);
  return planned.defragment === undefined && planned.moveLeader === undefined ? leadership(observed) : planned;
}

/** Moves the leader to the member that is restarted last, or was restarted: an election would hold up all writes. */
function leadership({ members, leaders = [] }: RoundObserved): Pick<Round, "moveLeader"> {
  const from = members.find(({ id, leader }) => id !== "" && id === leader);
  const to = leaders.flatMap((host) => members.find((each) => each.host === host) ?? [])[0];
  return from === undefined || to === undefined || from.id === to.id ? {} : { moveLeader: { from, to } };
}

/**
 * One member at a time, only while all are there, and the leader last: with three members clients have two others, and
 * writes have a quorum. Files that are not near the quota keep their free pages, which etcd uses again.
 */
function defragmentation(
  { members, expected, quota }: RoundObserved,
  isAlarmed: boolean,
): Pick<Round, "defragment" | "moveLeader"> {
  if (members.length < expected) return {};
  const isDue = ({ size, inUse }: MemberStatus) =>
    isAlarmed
      ? size > quota * 0.5 && size - inUse > size * 0.1
      : size > quota * 0.8 && size - inUse > size * 0.3 && inUse < LARGEST_COPY;
  const due = members.filter(isDue).toSorted((a, b) => b.size - a.size);
  const follower = due.find(({ id, leader }) => id !== leader);
  const [first] = due;
  if (follower !== undefined) return { defragment: follower };
  if (first === undefined) return {};
  const [other] = members.filter(({ id }) => id !== first.id).toSorted((a, b) => a.size - b.size);
  return other === undefined ? { defragment: first } : { moveLeader: { from: first, to: other } };
}
