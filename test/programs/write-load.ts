/** Clients that write to an API without pause, and what must be stored after it. */
import { systemClock } from "@causeway/foundation";
import { ConfigMap, isAlreadyExists, type KubernetesClient } from "@causeway/kubernetes";
import { expect } from "vitest";
import { key, until } from "./runtime-world.ts";

const WRITERS = 4;

export const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: key(name), data: {} });

/** Creates the objects that the clients count in. */
export async function prepareLoad(client: KubernetesClient): Promise<void> {
  for (let i = 0; i < WRITERS; i++) await until("an object", () => client.create(ConfigMap, configMap(`writer-${i}`)));
}

/** Clients that create one object after the other and count upwards in one each, and repeat what fails. */
export function loadOn(client: KubernetesClient, round: string) {
  const created: string[] = [];
  const counts = new Map<string, number>();
  /** Milliseconds between two writes that were acknowledged: of all clients, and of one of them. */
  let [longest, longestOfOne] = [0, 0];
  let [ended, last, failures] = [false, performance.now(), 0];
  const repeat = async (one: () => Promise<void>): Promise<void> => {
    let own = performance.now();
    while (!ended) {
      try {
        await one();
        const now = performance.now();
        longest = Math.max(longest, now - last);
        longestOfOne = Math.max(longestOfOne, now - own);
        last = own = now;
      } catch {
        failures++;
        await systemClock.sleep(20);
      }
    }
  };
  const creating = repeat(async () => {
    const name = `${round}-${created.length}`;
    await client.create(ConfigMap, configMap(name)).catch((error: unknown) => {
      // An earlier attempt's response was lost.
      if (!isAlreadyExists(error)) throw error;
    });
    created.push(name);
  });
  const writing = Array.from({ length: WRITERS }, (_, i) => {
    const name = `writer-${i}`;
    return repeat(async () => {
      const count = (counts.get(name) ?? 0) + 1;
      await client.patch(ConfigMap, key(name), { type: "merge", body: { data: { [round]: String(count) } } });
      counts.set(name, count);
    });
  });
  return {
    /** The fewest writes that a client has acknowledged so far. */
    fewest: () =>
      Math.min(created.length, ...Array.from({ length: WRITERS }, (_, i) => counts.get(`writer-${i}`) ?? 0)),
    async end() {
      ended = true;
      await Promise.all([creating, ...writing]);
      return { created, counts, failures, longest: Math.round(longest), longestOfOne: Math.round(longestOfOne) };
    },
  };
}

/** All that was acknowledged is stored, and nothing twice; the objects that are there. */
export async function expectStored(
  client: KubernetesClient,
  round: string,
  { created, counts }: { readonly created: readonly string[]; readonly counts: ReadonlyMap<string, number> },
): Promise<readonly ConfigMap[]> {
  const { items } = await until("a list", () => client.list(ConfigMap, { namespace: "default" }));
  const stored = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(`${round}-`));
  expect(created.filter((name) => !stored.includes(name))).toEqual([]);
  // The response to the last one may be lost.
  expect(stored.length - created.length).toBeLessThanOrEqual(1);
  for (const [name, count] of counts) {
    const data = items.find(({ metadata }) => metadata.name === name)?.data;
    expect(Number(data?.[round]), name).toBeGreaterThanOrEqual(count);
  }
  return items;
}
