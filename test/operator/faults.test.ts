/**
 * Seeded schedules of lost requests, lost responses and operators that are killed, or two at once: the same cloud comes
 * out.
 */
import { CausewayError } from "@causeway/foundation";
import { seeded } from "@causeway/foundation/testing";
import { Job, Secret, type KubernetesClient } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_OPERATOR"] ?? 4);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1);

const COMPONENT = "openstack.causeway.dev/component";

const lost = () => new CausewayError("KUBERNETES_UNREACHABLE", "the connection was lost");

/** The client that loses some requests, and the responses of some others. */
function losing(client: KubernetesClient, random: () => number): KubernetesClient {
  const write = async <T>(perform: () => Promise<T>): Promise<T> => {
    const fate = random();
    if (fate < 0.05) throw lost();
    const answer = await perform();
    if (fate < 0.1) throw lost();
    return answer;
  };
  return {
    server: client.server,
    get: (type, key, options) => client.get(type, key, options),
    find: (type, key, options) => client.find(type, key, options),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    create: (type, object, options) => write(() => client.create(type, object, options)),
    update: (type, object, options) => write(() => client.update(type, object, options)),
    patch: (type, key, patch, options) => write(() => client.patch(type, key, patch, options)),
    apply: (type, object, options) => write(() => client.apply(type, object, options)),
    delete: (type, key, options) => write(() => client.delete(type, key, options)),
    request: (method, path, options) => client.request(method, path, options),
    close: () => client.close(),
  };
}

describe("schedules of faults", () => {
  test.each(Array.from({ length: SCHEDULES }, (_, index) => SEED + index))(
    "seed %i: an installation and a rotation of passwords end as without faults",
    async (seed) => {
      const random = seeded(seed);
      const w = await OperatorWorld.start(1);
      try {
        const run = () => w.runOperator((client) => losing(client, random));
        let kill = run();
        if (seed % 3 === 0) run();
        await w.createDeployment();
        const settled = async (passwords: number) => {
          for (let passes = 0; ; passes++) {
            const { status } = await w.deployment();
            if (status?.phase === "Ready" && status.rotation?.passwords === passwords) return;
            if (passes > 20_000) throw new Error(`seed ${seed} does not end: ${JSON.stringify(status?.conditions)}`);
            await w.glance(2_000);
            if (random() < 0.01) {
              await kill();
              kill = run();
            }
          }
        };
        await settled(0);
        const before = await w.client.get(Secret, { namespace: "default", name: "cloud-credentials" });
        await w.change({ rotation: { passwords: 1 } });
        await settled(1);
        const after = await w.client.get(Secret, { namespace: "default", name: "cloud-credentials" });
        // Values that have one generation are made once, whatever is lost.
        for (const key of ["keystone.admin", "database.admin", "metadata.secret"])
          expect(after.data?.[key]).toBe(before.data?.[key]);
        const twice = async () => {
          const jobs = (await w.list(Job)).map(({ metadata }) => metadata.labels?.[COMPONENT]);
          return jobs.filter((component, index) => jobs.indexOf(component) !== index);
        };
        // A lost deletion is repeated after up to a minute, and the deployment is Ready meanwhile.
        await w.until("each Job is there once", async () => (await twice()).length === 0);
        await w.settle();
        expect(await twice()).toEqual([]);
      } finally {
        await w.close();
      }
    },
  );
});
