import { hasCode, type Clock } from "@causeway/foundation";
import { openEtcd, type EtcdAccess } from "../../etcd/etcd-admin.ts";

/** A member of an etcd, as the etcd knows it. */
export interface EtcdMember {
  readonly id: string;
  /** "etcd-1", by its address; undefined: it does not belong to the StatefulSet. */
  readonly name: string | undefined;
  /** It receives all data, and does not vote yet. */
  readonly isLearner: boolean;
}

/** The members of an etcd, and its leader. */
export interface EtcdMembership {
  readonly members: readonly EtcdMember[];
  /** Its id; undefined: there is no leader now. */
  readonly leader: string | undefined;
}

/** Changes the members of an etcd. All calls are safe to repeat. */
export interface EtcdMembers {
  read(access: EtcdAccess, signal: AbortSignal): Promise<EtcdMembership>;
  /** Adds a learner, which has no vote, so that the others keep their quorum while it starts. */
  add(access: EtcdAccess, peerUrl: string, signal: AbortSignal): Promise<void>;
  /** False: it has not received all data yet. */
  promote(access: EtcdAccess, id: string, signal: AbortSignal): Promise<boolean>;
  remove(access: EtcdAccess, id: string, signal: AbortSignal): Promise<void>;
  /**
   * Makes another member the leader. Only the leader accepts the request: it is found by the status of each address.
   */
  moveLeader(access: EtcdAccess, to: string, signal: AbortSignal): Promise<void>;
}

interface MemberList {
  readonly members?: readonly {
    readonly ID?: string;
    readonly peerURLs?: readonly string[];
    readonly isLearner?: boolean;
  }[];
}

/** By etcd's JSON API. */
export function createEtcdMembers({ clock }: { readonly clock: Clock }): EtcdMembers {
  const open = (access: EtcdAccess, signal: AbortSignal) => openEtcd(access, { clock, signal });
  const listed = async (access: EtcdAccess, signal: AbortSignal): Promise<readonly EtcdMember[]> => {
    const call = await open(access, signal);
    const { members = [] } = (await call("cluster/member/list", { linearizable: true })) as MemberList;
    return members.map(({ ID: id = "", peerURLs = [], isLearner = false }) => ({
      id,
      name: /^https:\/\/(etcd-\d+)\./.exec(peerURLs[0] ?? "")?.[1],
      isLearner,
    }));
  };
  const isThere = async (access: EtcdAccess, id: string, signal: AbortSignal) =>
    (await listed(access, signal)).find((each) => each.id === id);
  return {
    async read(access, signal) {
      const call = await open(access, signal);
      const { leader } = (await call("maintenance/status")) as { leader?: string };
      return { members: await listed(access, signal), leader: leader === "0" ? undefined : leader };
    },
    async add(access, peerUrl, signal) {
      const call = await open(access, signal);
      await call("cluster/member/add", { peerURLs: [peerUrl], isLearner: true });
    },
    async promote(access, id, signal) {
      const call = await open(access, signal);
      try {
        await call("cluster/member/promote", { ID: id });
        return true;
      } catch (error) {
        if (!hasCode(error, "PODS_ETCD_REFUSED")) throw error;
        return (await isThere(access, id, signal))?.isLearner === false;
      }
    },
    async remove(access, id, signal) {
      const call = await open(access, signal);
      try {
        await call("cluster/member/remove", { ID: id });
      } catch (error) {
        // An earlier attempt removed it, and its response was lost.
        if ((await isThere(access, id, signal)) !== undefined) throw error;
      }
    },
    async moveLeader(access, to, signal) {
      const call = await open(access, signal);
      for (const host of access.addresses) {
        const { header, leader } = (await call("maintenance/status", {}, { host })) as {
          header?: { member_id?: string };
          leader?: string;
        };
        if (header?.member_id !== leader || leader === to) continue;
        await call("maintenance/transfer-leadership", { targetID: to }, { host });
      }
    },
  };
}
