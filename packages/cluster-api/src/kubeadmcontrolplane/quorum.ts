import type { EtcdMember } from "../objects/access.ts";

/** Votes that a cluster of so many voters needs. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

function voters(members: readonly EtcdMember[]): EtcdMember[] {
  return members.filter(({ isLearner }) => !isLearner);
}

/** Whether enough voters serve. A member with a `problem` counts as a voter that does not. */
export function hasQuorum(members: readonly EtcdMember[]): boolean {
  const all = voters(members);
  return all.length > 0 && all.filter(({ problem }) => problem === undefined).length >= quorumOf(all.length);
}

/** Whether etcd keeps its quorum without the member of this name. Learners have no vote. */
export function survivesWithout(members: readonly EtcdMember[], name: string): boolean {
  return hasQuorum(members.filter((member) => member.name !== name));
}

/** The same, should its replacement join and not serve. */
export function survivesReplacing(members: readonly EtcdMember[], name: string): boolean {
  const left = voters(members).filter((member) => member.name !== name);
  const serving = left.filter(({ problem }) => problem === undefined).length;
  return left.length > 0 && serving >= quorumOf(left.length + 1);
}

/** Whether etcd keeps its quorum should one more member join and not serve. */
export function survivesJoining(members: readonly EtcdMember[]): boolean {
  const all = voters(members);
  return all.filter(({ problem }) => problem === undefined).length >= quorumOf(all.length + 1);
}
