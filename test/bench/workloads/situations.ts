import { Deployment, Job, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";
import { deploymentOf, jobOf, key, namespace } from "./objects.ts";
import type { Measured, Stage } from "./stage.ts";

export interface Sizes {
  readonly pods: number;
  /** Jobs that are created in each second. */
  readonly rate: number;
  /** For so many seconds. */
  readonly seconds: number;
  readonly idleSeconds: number;
}

/** Something that happens to a cluster. */
export interface Situation {
  readonly name: (sizes: Sizes) => string;
  run(stage: Stage, sizes: Sizes): Promise<Measured>;
}

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

async function isRolledOut(client: KubernetesClient, pods: number): Promise<boolean> {
  const { metadata, status } = await client.get(Deployment, key);
  const { observedGeneration, replicas, updatedReplicas, availableReplicas, readyReplicas } = status ?? {};
  return (
    observedGeneration === metadata.generation &&
    [replicas, updatedReplicas, availableReplicas, readyReplicas].every((count) => count === pods)
  );
}

const deploy: Situation = {
  name: ({ pods }) => `${pods} pods of a Deployment: created to all Ready`,
  async run(stage, { pods }) {
    // Pods need the account that controllers make.
    await stage.until(
      async () => (await stage.client.find(ServiceAccount, { namespace, name: "default" })) !== undefined,
    );
    return stage.measure(async () => {
      await stage.client.create(Deployment, deploymentOf(pods));
      await stage.until(() => isRolledOut(stage.client, pods));
    });
  },
};

const update: Situation = {
  name: ({ pods }) => `rolling update of ${pods} pods`,
  run(stage, { pods }) {
    const body = { spec: { template: { spec: { containers: [{ name: "main", image: "web:2" }] } } } };
    return stage.measure(async () => {
      await stage.client.patch(Deployment, key, { type: "strategic", body });
      await stage.until(() => isRolledOut(stage.client, pods));
    });
  },
};

const jobs: Situation = {
  name: ({ rate, seconds }) => `${rate} Jobs a second for ${seconds} s: first created to all Complete`,
  run(stage, { rate, seconds }) {
    const total = rate * seconds;
    return stage.measure(async () => {
      const begun = performance.now();
      const made = Array.from({ length: total }, async (_, i) => {
        await pause(Math.max(0, begun + (i * 1000) / rate - performance.now()));
        await stage.client.create(Job, jobOf(`job-${i}`));
      });
      await Promise.all(made);
      let complete = 0;
      await stage.until(async () => {
        const { items } = await stage.client.list(Job, { namespace });
        const ended = items.filter(({ status }) => status?.conditions?.some(({ type }) => type === "Complete"));
        complete = ended.length;
        if (complete < total) await pause(500);
        return complete >= total;
      });
    });
  },
};

const idle: Situation = {
  name: ({ idleSeconds }) => `idle for ${idleSeconds} s with all that`,
  run: (stage, { idleSeconds }) => stage.measure(() => pause(idleSeconds * 1000)),
};

export const situations: readonly Situation[] = [deploy, update, jobs, idle];
