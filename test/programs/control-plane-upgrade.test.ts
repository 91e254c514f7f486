/**
 * An upgrade over one minor with Kubernetes' own programs of both, on processes and on pods of a service cluster, while
 * clients read and write: no acknowledged write is lost, the API of pods is away for at most five seconds, and there is
 * no way back. Pods have three members of etcd and two API servers, without which each pauses when its pod is replaced.
 */
import { HostedControlPlane } from "@causeway/api";
import { systemClock } from "@causeway/foundation";
import { ConfigMap, isTrue, type Condition, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programs } from "./programs.ts";
import { available, create, key, missingFor, startWorld, until, VERSION, type World } from "./runtime-world.ts";

/**
 * Milliseconds. Of processes one API server and one etcd restart: about four seconds, and far more next to other work.
 */
const LONGEST_PAUSE = { Pods: 5_000, Process: 60_000 };
/** What an upgrade without a pause needs: etcd has a majority, and one API server is up, at any time. */
const REDUNDANT = { replicas: 2, pods: { datastore: { type: "Own", members: 3 } } };
const WRITERS = 4;
const READERS = 16;

interface Load {
  /** Ends it: what was acknowledged, and the longest time without a response, in milliseconds. */
  end(): Promise<{ acknowledged: ReadonlyMap<string, number>; responses: number; longest: number; seconds: number }>;
}

/** Clients that never pause: each writer counts upwards in an object of its own. */
function loadOn(client: KubernetesClient): Load {
  const acknowledged = new Map<string, number>();
  const begun = performance.now();
  let [last, longest, responses, ended] = [begun, 0, 0, false];
  const answered = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    [last, responses] = [now, responses + 1];
  };
  const repeat = async (one: () => Promise<void>): Promise<void> => {
    while (!ended) {
      try {
        await one();
        answered();
      } catch {
        await systemClock.sleep(20);
      }
    }
  };
  const writer = (name: string) => {
    let next = 1;
    return repeat(async () => {
      await client.patch(ConfigMap, key(name), { type: "merge", body: { data: { count: String(next) } } });
      acknowledged.set(name, next++);
    });
  };
  const running = [
    ...Array.from({ length: WRITERS }, (_, i) => writer(`writer-${i}`)),
    ...Array.from({ length: READERS }, () => repeat(async () => void (await client.get(ConfigMap, key("writer-0"))))),
  ];
  return {
    async end() {
      ended = true;
      await Promise.all(running);
      return { acknowledged, responses, longest, seconds: (performance.now() - begun) / 1000 };
    },
  };
}

const { previous } = programs();

for (const name of ["Process", "Pods"] as const) {
  const why = "reason" in previous ? previous.reason : missingFor(name);
  describe.skipIf(why !== undefined)(`upgrades on runtime ${name}${why === undefined ? "" : ` (${why})`}`, () => {
    const before = "version" in previous ? previous.version : "";
    let world: World;
    beforeAll(async () => {
      const dir = "dir" in previous ? previous.dir : "";
      // etcd has an image of its own, whose tag is that of kubeadm's etcd for the minor.
      world = await startWorld(name, { [before]: dir, "3.5.21-0": dir });
      await create(world, "one", { version: before, ...(name === "Pods" ? REDUNDANT : {}) });
      await available(world, "one");
    });
    afterAll(() => world?.close());

    const set = (version: string) =>
      world.client.patch(HostedControlPlane, key("one"), { type: "merge", body: { spec: { version } } });
    const served = async (tenant: KubernetesClient): Promise<string> =>
      ((await tenant.request("GET", "/version")) as { gitVersion: string }).gitVersion;

    test("reach the next minor while clients read and write", { retry: 0, timeout: 600_000 }, async () => {
      const tenant = await world.tenant("one");
      // The first of two API servers is enough to be available; a connection may still be led to the second one.
      await until("the earlier version", async () => ((await served(tenant)) === before ? true : undefined));
      for (let i = 0; i < WRITERS; i++) {
        const object = { apiVersion: "v1", kind: "ConfigMap", metadata: key(`writer-${i}`) };
        await until("an object to write", async () => await tenant.create(ConfigMap, object));
      }
      const load = loadOn(tenant);
      await set(VERSION);
      let said = "";
      await until("upgraded", async () => {
        const { status } = await world.client.get(HostedControlPlane, key("one"));
        const conditions = (status?.conditions ?? []) as Condition[];
        said = conditions.map(({ type, status: is, message = "" }) => `${type}=${is} ${message}`).join("; ");
        return status?.version === VERSION && isTrue(conditions, "Available") ? true : undefined;
      }).catch((error: unknown) => {
        throw new Error(said, { cause: error });
      });
      const { acknowledged, responses, longest, seconds } = await load.end();
      const perSecond = Math.round(responses / seconds);
      console.log(
        `${name}: ${before} to ${VERSION} in ${seconds.toFixed(1)} s, ${responses} responses (${perSecond} a second), ` +
          `the longest pause ${Math.round(longest)} ms`,
      );
      // A server that is ending still has the connections that it had.
      await until("the new version", async () => ((await served(tenant)) === VERSION ? true : undefined));
      for (const [writer, count] of acknowledged) {
        const { data } = await tenant.get(ConfigMap, key(writer));
        expect(Number(data?.["count"]), writer).toBeGreaterThanOrEqual(count);
      }
      expect(acknowledged.size).toBe(WRITERS);
      expect(longest).toBeLessThanOrEqual(LONGEST_PAUSE[name]);
    });

    test("does not go back, and says so", async () => {
      await expect(set(before)).rejects.toThrow(/cannot be downgraded/);
      expect(await served(await world.tenant("one"))).toBe(VERSION);
    });
  });
}
