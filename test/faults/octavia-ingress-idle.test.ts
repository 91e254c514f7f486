/**
 * What an hour at rest costs the Octavia controller, and how soon it notices what another client changes, on a clock
 * that the test moves.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Ingress } from "@causeway/octavia-ingress";
import { CLASS, IngressFaultWorld, OWN } from "./octavia-ingress/world.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const MINUTE = 60_000;
const NAMES = ["one", "two", "three"];
let world: IngressFaultWorld;

beforeAll(async () => {
  world = await IngressFaultWorld.start();
  for (const name of NAMES)
    await world.client.create(Ingress, {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name, namespace: "default" },
      spec: {
        ingressClassName: CLASS,
        defaultBackend: { service: { name: "one", port: { number: 80 } } },
      },
    });
  const process = world.launch(false);
  for (let i = 0; i < 30; i += 1) await world.pass(MINUTE);
  return () => process.stop();
});
afterAll(() => world.close());

const calls = (): string[] =>
  world.simulator.calls
    .filter(({ userAgent, service }) => !userAgent.startsWith(OWN) && service !== "identity")
    .map(({ method, path }) => `${method} ${(path.split("?")[0] ?? "").split("/").at(-1)}`);

async function during(minutes: number): Promise<string[]> {
  const before = calls().length;
  for (let i = 0; i < minutes; i += 1) await world.pass(MINUTE);
  return calls().slice(before);
}

test("an hour at rest has 30 calls, however many Ingresses there are", async () => {
  expect(await world.cloud.loadBalancing.loadBalancers.all()).toHaveLength(NAMES.length);
  const count = (name: string, all: readonly string[]) => all.filter((call) => call === `GET ${name}`).length;
  const all = await during(60);
  expect(count("loadbalancers", all)).toBe(12);
  expect(all.length).toBeLessThanOrEqual(30);
});

test("a part that another client changes is set right within ten minutes", async () => {
  const { listeners, pools } = world.cloud.loadBalancing;
  const [listener] = await listeners.all();
  await listeners.update(listener?.id ?? "", { connection_limit: 7 });
  await during(12);
  expect((await listeners.get(listener?.id ?? "")).connection_limit).toBe(-1);
  const [pool] = await pools.all();
  const members = world.cloud.loadBalancing.members(pool?.id ?? "");
  const [member] = await members.all();
  await members.delete(member?.id ?? "");
  await during(12);
  expect(await members.all()).toHaveLength(3);
});
