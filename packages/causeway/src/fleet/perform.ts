import { HostedControlPlane } from "@causeway/api";
import {
  addFinalizer,
  removeFinalizer,
  type EventRecorder,
  type ObjectKey,
  type RemoteClusters,
} from "@causeway/kubernetes";
import type { ProjectListings } from "@causeway/cloud-controller-manager";
import { startMember, type Member, type MemberOptions } from "./member.ts";
import { fleetFinalizer, type Observed } from "./plan.ts";
import type { Step } from "./steps.ts";
import { recordAccount, runSweep, type Sweep } from "./sweep.ts";

/** What all members have in common, and those that run. */
export interface PerformContext extends Omit<MemberOptions, "cluster" | "infrastructure" | "remote"> {
  readonly remoteClusters: Pick<RemoteClusters, "get">;
  /** By "namespace/name". */
  readonly members: Map<string, Member>;
  readonly sweeps: Map<string, Sweep>;
  readonly listings: ProjectListings;
  readonly events: EventRecorder;
  /** Ends what runs in the background. */
  readonly life: AbortSignal;
  /** Plans the cluster again. */
  readonly wake: (key: ObjectKey) => void;
}

/** Does one step for the cluster of the key. "deferred": it was started, and the next plans see how it ends. */
export async function perform(
  using: PerformContext,
  { key, step, observed }: { readonly key: ObjectKey; readonly step: Step; readonly observed: Observed },
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { informers, members, remoteClusters } = using;
  const { cluster, controlPlane, infrastructure } = observed;
  const id = `${key.namespace}/${key.name}`;
  const change = { finalizer: fleetFinalizer, signal };
  switch (step.type) {
    case "hold-control-plane":
      if (controlPlane) await addFinalizer(informers.client, HostedControlPlane, controlPlane, change);
      return undefined;
    case "start-member": {
      const remote = remoteClusters.get(key);
      // It was disconnected meanwhile: it is planned again when it is back.
      if (!remote || !cluster || !infrastructure) return "deferred";
      members.set(id, await startMember({ ...using, cluster, infrastructure, remote }, signal));
      return undefined;
    }
    case "stop-member": {
      const member = members.get(id);
      members.delete(id);
      await member?.stop();
      return undefined;
    }
    case "release-load-balancers":
      members.get(id)?.release();
      return "deferred";
    case "sweep-load-balancers": {
      if (!cluster || !infrastructure || !controlPlane) return "deferred";
      const now = using.clock.now();
      const sweep = using.sweeps.get(id) ?? { isRunning: false, since: now, again: now, swept: undefined };
      using.sweeps.set(id, sweep);
      void runSweep(sweep, { ...using, cluster, infrastructure, controlPlane }, using.life).then(() => using.wake(key));
      return "deferred";
    }
    case "release-control-plane":
      if (!controlPlane) return undefined;
      // The account comes first: once released, the object may be gone at any moment.
      if (observed.member === undefined)
        recordAccount(using.events, { cluster, controlPlane, sweep: using.sweeps.get(id) });
      await removeFinalizer(informers.client, HostedControlPlane, controlPlane, change);
      return undefined;
  }
}
