import { CausewayError, type Clock } from "@causeway/foundation";
import { DaemonSet, Deployment, Node, Service, type Informers, type RemoteClusters } from "@causeway/kubernetes";
import {
  AddonSet,
  Cluster,
  HostedControlPlane,
  Machine,
  MachineDeployment,
  OpenStackCluster,
  OpenStackMachine,
} from "@causeway/api";
import { demo } from "./manifests.ts";
import { itemsOf, viewOf, type DemoView, type DemoWorld } from "./view.ts";

/** What the demo shows of its cluster, at any time and with each change. */
export interface DemoFollower {
  readonly view: DemoView;
  onChange(handler: (view: DemoView) => void): () => void;
  /**
   * Resolves when `test` holds.
   * @throws DEMO_FAILED when `problemTimeout` milliseconds have passed since a problem that only a user can fix
   * appeared.
   */
  until(test: (view: DemoView) => boolean, signal: AbortSignal, problemTimeout?: number): Promise<void>;
}

/** Caches of the management cluster and of the demo's own. */
export interface FollowOptions {
  readonly informers: Informers;
  readonly remoteClusters: RemoteClusters;
  readonly clock: Clock;
}

/** Watches the demo through the caches the controllers have anyway; it costs no request. */
export function followDemo(options: FollowOptions): DemoFollower {
  const { informers, remoteClusters, clock } = options;
  const clusters = informers.for(Cluster);
  const infrastructures = informers.for(OpenStackCluster);
  const controlPlanes = informers.for(HostedControlPlane);
  const deployments = informers.for(MachineDeployment);
  const machines = informers.for(Machine);
  const servers = informers.for(OpenStackMachine);
  const addons = informers.for(AddonSet);
  const handlers = new Set<(view: DemoView) => void>();

  const world = (): DemoWorld => {
    const remote = remoteClusters.get(demo)?.informers;
    const applications = remote?.for(Deployment);
    const key = { namespace: "default", name: demo.service };
    return {
      now: clock.now(),
      cluster: clusters.get(demo),
      infrastructure: infrastructures.get(demo),
      controlPlane: controlPlanes.get(demo),
      deployment: deployments.get({ namespace: demo.namespace, name: demo.workers }),
      machines: machines.list(demo.namespace).filter((m) => m.spec.clusterName === demo.name),
      servers: servers.list(demo.namespace),
      nodes: remote?.for(Node).list() ?? [],
      // Before their list is there, an application that exists would look like one that was deleted.
      service: applications?.synced ? remote?.for(Service).get(key) : undefined,
      application: applications?.get(key),
      addons: addons.get(demo),
      proxies: remote?.for(DaemonSet).get({ namespace: "kube-system", name: demo.addon }),
    };
  };
  const notify = () => {
    const view = viewOf(world());
    for (const handler of handlers) handler(view);
  };
  for (const informer of [clusters, infrastructures, controlPlanes, deployments, machines, servers, addons])
    informer.onChange(notify);
  remoteClusters.onConnect((remote) => {
    if (remote.key.namespace !== demo.namespace || remote.key.name !== demo.name) return;
    remote.informers.for(Node).onChange(notify);
    remote.informers.for(Service).onChange(notify);
    remote.informers.for(DaemonSet).onChange(notify);
    remote.informers.for(Deployment).onChange(notify);
    remote.informers
      .for(Deployment)
      .whenSynced(remote.signal)
      .then(notify, () => {});
  });

  const onChange = (handler: (view: DemoView) => void) => {
    handlers.add(handler);
    return () => void handlers.delete(handler);
  };
  return {
    get view() {
      return viewOf(world());
    },
    onChange,
    until: (test, signal, problemTimeout) =>
      until({ view: () => viewOf(world()), onChange, notify, clock }, { test, signal, problemTimeout }),
  };
}

interface ViewSource {
  view(): DemoView;
  onChange(handler: (view: DemoView) => void): () => void;
  /** Gives the view to all handlers: what it says of time changes without an event. */
  notify(): void;
  readonly clock: Clock;
}

async function until(
  watching: ViewSource,
  goal: { test: (view: DemoView) => boolean; signal: AbortSignal; problemTimeout: number | undefined },
): Promise<void> {
  let troubledSince: number | undefined;
  for (;;) {
    goal.signal.throwIfAborted();
    const view = watching.view();
    if (goal.test(view)) return;
    const problem = problemIn(view);
    const now = watching.clock.now();
    troubledSince = problem === undefined ? undefined : (troubledSince ?? now);
    if (
      goal.problemTimeout !== undefined &&
      troubledSince !== undefined &&
      now - troubledSince >= goal.problemTimeout
    ) {
      throw new CausewayError("DEMO_FAILED", problem ?? "the demo does not become ready", {
        hint: "kubectl describe the object that it names; fix it, or delete the cluster.",
      });
    }
    await changeOrPause(watching, goal.signal);
  }
}

function problemIn(view: DemoView): string | undefined {
  const item = itemsOf(view).find((i) => i.problem !== undefined);
  return item && `${item.title}: ${item.problem}`;
}

/** Wakes on the next change, and at the latest after a second. */
async function changeOrPause(watching: ViewSource, signal: AbortSignal): Promise<void> {
  const waking = new AbortController();
  const stop = watching.onChange(() => waking.abort());
  try {
    const paused = watching.clock.sleep(1000, AbortSignal.any([signal, waking.signal])).then(() => true);
    if (await paused.catch(() => false)) watching.notify();
  } finally {
    stop();
  }
}
