import { join } from "node:path";
import { existsSync } from "node:fs";
import { readTextFile, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { Informers } from "@causeway/kubernetes";
import type { Magnum } from "@causeway/magnum-api";
import { loadCloudsYaml } from "@causeway/openstack";
import type { ChosenCloud } from "./cloud.ts";
import { newestVersion, type RuntimeChoice } from "./runtime.ts";
import type { State } from "./state.ts";
import { ensureDomain, registerMagnum } from "../magnum/register.ts";

interface MagnumContext {
  readonly state: State;
  readonly informers: Informers;
  readonly runtime: RuntimeChoice;
  /** Image of the Cinder CSI node part of workload clusters; undefined: it is not installed. */
  readonly csiImage: string | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

const HOST = "127.0.0.1";
/** The domain of the users of clusters. */
const TRUSTEES = "magnum-clusters";
/** What a cluster needs of its project: servers and networks, load balancers, and secrets of Barbican. */
const ROLES = ["member", "reader", "load-balancer_member", "creator"];

/**
 * The Magnum API of `causeway up`: on loopback, at a port that remains over restarts, and in the catalog of the
 * simulated cloud. Undefined on a real cloud, whose catalog is its operators' affair: there `causeway run magnum-api`
 * is what they run.
 */
export async function magnumOfSystem(cloud: ChosenCloud, using: MagnumContext): Promise<Magnum | undefined> {
  if (!cloud.simulator) return undefined;
  const { state, informers, runtime, csiImage, metrics, clock, log } = using;
  const { startMagnum } = await import("@causeway/magnum-api");
  const region = cloud.config.region;
  const admin = loadCloudsYaml({ cloud: "simulator-admin", text: cloud.simulator.cloudsYaml });
  const registering = { clock, log, signal: AbortSignal.timeout(30_000) };
  const common = {
    informers,
    keystone: { name: "simulator", authUrl: cloud.config.authUrl },
    region,
    // Clusters outlive those who create them.
    trustees: { account: admin, domain: await ensureDomain(admin, TRUSTEES, registering), roles: ROLES },
    // Of the programs that are installed, the newest ones are the default.
    ...(runtime.default === "Process"
      ? { controlPlaneRuntime: "Process" as const, defaultVersion: newestVersion(runtime.programs) }
      : {}),
    csiImage,
    // Keystone is in this process: a revoked token is refused at once.
    tokenRecheck: 0,
    host: HOST,
    metrics,
    clock,
    log: log.with({ component: "magnum-api" }),
  };
  const magnum = await startMagnum({ ...common, port: keptPort(state) }).catch(() =>
    startMagnum({ ...common, port: 0 }),
  );
  state.write("magnum-api.port", String(magnum.port));
  await registerMagnum(admin, `http://${HOST}:${magnum.port}/v1`, { region, ...registering });
  return magnum;
}

function keptPort(state: State): number {
  const file = join(state.dir, "magnum-api.port");
  const port = existsSync(file) ? Number(readTextFile(file)) : 0;
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0;
}
