import { readFileSync } from "node:fs";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { createCloudControllerManager, rarelyWatched, parseControllerConfig } from "@causeway/cloud-controller-manager";
import { createClient, createEventRecorder, createInformers, loadKubeconfig } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, watchCloud } from "@causeway/openstack";
import { quiet, type Outcome } from "./situations.ts";
import type { Stage } from "./stage.ts";

const HOUR = 3600;
const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/**
 * Our manager in this process on a clock that is turned forward by an hour, second by second, as fast as the answers
 * come.
 */
export async function virtualHour(stage: Stage): Promise<Outcome> {
  const clock = new VirtualClock(Date.now());
  const stopping = new AbortController();
  const { signal } = stopping;
  const text = readFileSync(stage.cloud.cloudsYaml, "utf8");
  const cloud = connectCloud(loadCloudsYaml({ text, cloud: "simulator" }), { clock });
  const { config } = parseControllerConfig(readFileSync(stage.cloud.cloudConf, "utf8"));
  const watch = watchCloud(cloud, { clock, rarely: rarelyWatched(config) });
  const client = createClient(loadKubeconfig({ path: stage.cluster.kubeconfig }));
  const informers = createInformers(client);
  const manager = createCloudControllerManager({
    informers,
    cloud,
    watch,
    config,
    clusterName: "bench",
    events: createEventRecorder(client, { component: "cloud-controller-manager", signal }),
    clock,
    log: silentLog,
  });
  const running = Promise.all([informers.run(signal), manager.run(signal)]);
  const turn = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      await clock.advance(1000);
      for (let calls = -1; calls !== cloud.stats().total;) {
        calls = cloud.stats().total;
        await pause(2);
      }
    }
  };
  for (let i = 0; i < 20; i += 1) {
    await pause(500);
    await turn(10);
  }
  await quiet(stage, 30_000);
  const before = process.cpuUsage();
  const figures = await stage.measure(async () => {
    await turn(HOUR);
    return HOUR;
  });
  const { user, system } = process.cpuUsage(before);
  stopping.abort();
  await running;
  await Promise.all([watch.close(), client.close()]);
  await cloud.close();
  const cpuSeconds = (user + system) / 1e6;
  const memoryMiB = process.memoryUsage.rss() / 1024 / 1024;
  return {
    figures: { ...figures, cpuSeconds, memoryMiB },
    note: "on the virtual clock, with the cloud in the same process",
  };
}
