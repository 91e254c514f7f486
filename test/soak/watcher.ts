/**
 * The program under soak: informers of ports in a process of its own, whose memory is its own. For each line on its
 * input it prints what it knows as one line of JSON.
 */
import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { connectCloud, loadCloudsYaml, watchCloud } from "@causeway/openstack";
import { digestOf } from "./digest.ts";

/** What the watcher reports about itself. */
export interface WatcherReport {
  /** Of the informer's cache. */
  readonly cache: string;
  /** Of what its events say, read one after the other. */
  readonly events: string;
  readonly objects: number;
  /** Events that do not follow from those before: an object added twice, or changed when it was not there. */
  readonly unfounded: number;
  readonly deletions: number;
  /** MiB in use after a collection. */
  readonly heapMiB: number;
  readonly calls: number;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const config = loadCloudsYaml({ cloud: process.env["OS_CLOUD"] });
const cloud = connectCloud(config, { userAgent: "soak-watcher", reload: () => loadCloudsYaml({ cloud: config.name }) });
const watch = watchCloud(cloud, { intervals: { slow: Number(process.argv[2] ?? 2000) } });
const known = new Map<string, string>();
let [unfounded, deletions] = [0, 0];
watch.ports.onChange(({ type, object }) => {
  if ((type === "added") === known.has(object.id)) unfounded++;
  if (type !== "deleted") return void known.set(object.id, object.name);
  deletions++;
  known.delete(object.id);
});
await watch.ports.start();

for await (const _ of createInterface({ input: process.stdin })) {
  collect();
  const cached = new Map(watch.ports.list().map((port) => [port.id, port.name]));
  const report: WatcherReport = {
    cache: digestOf(cached),
    events: digestOf(known),
    objects: cached.size,
    unfounded,
    deletions,
    heapMiB: process.memoryUsage().heapUsed / 1024 / 1024,
    calls: cloud.stats().total,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
await watch.close();
await cloud.close();
