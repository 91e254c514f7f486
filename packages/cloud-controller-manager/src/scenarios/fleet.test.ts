import { afterEach, expect, test, vi } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { World } from "../testing/world.ts";

// It waits in real time.
vi.setConfig({ testTimeout: 300_000 });

let clouds: Simulator[] = [];
let worlds: World[] = [];

afterEach(async () => {
  for (const cloud of clouds) cloud.setDelay("request.load-balancer", 0);
  for (const world of worlds) await world.close().catch(() => {});
  for (const cloud of clouds) await cloud.close();
  clouds = [];
  worlds = [];
});

async function aCloud(): Promise<Simulator> {
  const cloud = await startSimulator({ profile: "instant" });
  clouds.push(cloud);
  return cloud;
}

/** A cluster with a manager in this process, and how to kill its API server. */
async function aCluster(prefix: string, cloud: Simulator): Promise<{ w: World; kill: () => Promise<void> }> {
  const server = await startApiServer();
  const config = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" });
  const intervals = { fast: 20, fastest: 20, slow: 200 };
  const w = await World.start({ server, config, prefix, servers: 1, intervals, timeout: 40_000 });
  worlds.push(w);
  w.run({ provider: "ovn" });
  await w.joinAll();
  return { w, kill: () => server.close() };
}

test("of many clusters in one process, one whose API server is dead and one whose cloud hangs slow no other", async () => {
  const [shared, slow] = [await aCloud(), await aCloud()];
  const dead = await aCluster("dead", shared);
  const hanging = await aCluster("hanging", slow);
  const sound = await aCluster("sound", shared);
  await dead.w.createService("web");
  await dead.w.served("web");
  await dead.kill();
  // Longer than every timeout here: a cluster that it delays fails.
  slow.setDelay("request.load-balancer", 50_000);
  for (let i = 0; i < 20; i++) await hanging.w.createService(`web-${i}`);
  await sound.w.createService("web");
  await sound.w.served("web");
  await sound.w.change("web", { spec: { ports: [{ name: "other", port: 81, protocol: "TCP" }] } });
  await sound.w.until("the other port", async () => {
    const [listener, ...more] = await sound.w.cloud.loadBalancing.listeners.all({
      name: "listener_0_kube_service_sound_default_web",
    });
    return listener?.protocol_port === 81 && more.length === 0 ? true : undefined;
  });
  expect((await hanging.w.service("web-0")).status?.loadBalancer?.ingress ?? []).toEqual([]);
  await sound.w.remove("web");
});
