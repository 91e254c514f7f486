/** Heat's workers: Nodes whose pods are played as long as their servers are there. */
import { silentLog, systemClock } from "@causeway/foundation";
import { Node, Pod, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";
import { simulateNode } from "@causeway/machine-agent";
import type { HeatCluster } from "@causeway/magnum-migration/testing";
import type { Simulator } from "@causeway/simulator";
import { VERSION } from "./names.ts";

export interface PlayedWorkers {
  stop(): Promise<void>;
}

/** A Node for each worker, with a pod of its own, until the worker's server is deleted or it is stopped. */
export async function playWorkers(
  client: KubernetesClient,
  simulator: Simulator,
  workers: HeatCluster["workers"],
): Promise<PlayedWorkers> {
  // The controller manager makes it a moment after the API servers answer; pods need it.
  while (!(await client.find(ServiceAccount, { namespace: "default", name: "default" }))) await systemClock.sleep(200);
  const stopping = new AbortController();
  const machines = simulator.machines();
  const running: Promise<unknown>[] = [];
  const living = new Map<string, AbortController>();
  for (const { id, name } of workers) {
    const machine = machines.find((one) => one.id === id);
    if (!machine) throw new Error(`no server ${name}`);
    const life = new AbortController();
    living.set(id, life);
    const using = { client, clock: systemClock, log: silentLog, version: VERSION };
    running.push(simulateNode(machine, using, AbortSignal.any([stopping.signal, life.signal])).catch(() => undefined));
    while (!(await client.find(Node, { namespace: "", name }))) await systemClock.sleep(50);
    const body = { spec: { providerID: `openstack:///${id}` } };
    await client.patch(Node, { namespace: "", name }, { type: "merge", body });
    await client.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace: "default", name: `web-${name}` },
      spec: {
        nodeName: name,
        containers: [{ name: "web", image: "example.com/web:1" }],
        terminationGracePeriodSeconds: 0,
      },
    } as Pod);
  }
  running.push(
    (async () => {
      while (!stopping.signal.aborted) {
        const there = new Set(simulator.machines().map(({ id }) => id));
        for (const [id, life] of living) if (!there.has(id)) life.abort();
        await systemClock.sleep(200, stopping.signal).catch(() => {});
      }
    })(),
  );
  return {
    async stop() {
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}
