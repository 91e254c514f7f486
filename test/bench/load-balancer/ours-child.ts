/**
 * Our cloud controller manager as a process of its own: `node ours-child.ts CLOUDS_YAML CLOUD_CONF KUBECONFIG…`. More
 * than one kubeconfig makes a fleet: a manager for each cluster, all with one connection to the cloud.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

export const OURS_CHILD = import.meta.filename;

async function main([cloudsYaml = "", cloudConf = "", ...kubeconfigs]: readonly string[]): Promise<void> {
  // As the causeway program does.
  const compiled = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "causeway", "compiled");
  mkdirSync(compiled, { recursive: true, mode: 0o700 });
  enableCompileCache(compiled);
  const { createClient, createEventRecorder, createInformers, loadKubeconfig } = await import("@causeway/kubernetes");
  const { createCloudPool, loadCloudsYaml } = await import("@causeway/openstack");
  const { createCloudControllerManager, rarelyWatched, parseControllerConfig } =
    await import("@causeway/cloud-controller-manager");
  const { createLog, systemClock } = await import("@causeway/foundation");
  const clock = systemClock;
  const log = createLog({ level: "warn" });
  const cloudConfig = loadCloudsYaml({ text: readFileSync(cloudsYaml, "utf8"), cloud: "simulator" });
  const { config } = parseControllerConfig(readFileSync(cloudConf, "utf8"));
  const pool = createCloudPool({ clock, log, rarely: rarelyWatched(config) });
  const { signal } = new AbortController();
  for (const [i, path] of kubeconfigs.entries()) {
    const { cloud, watch } = pool.get(cloudConfig);
    const client = createClient(loadKubeconfig({ path }));
    const informers = createInformers(client, { clock, log });
    const manager = createCloudControllerManager({
      informers,
      cloud,
      watch,
      config,
      clusterName: kubeconfigs.length === 1 ? "bench" : `bench-${i}`,
      events: createEventRecorder(client, { component: "cloud-controller-manager", clock }),
      clock,
      log,
    });
    void informers.run(signal);
    void manager.run(signal);
  }
  flushCompileCache();
}

if (import.meta.main) await main(process.argv.slice(2));
