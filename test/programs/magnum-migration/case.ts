/** What the tests of the migration share: the stage with its workers, and phases by commands that are killed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createClient, Namespace, Pod } from "@causeway/kubernetes";
import { discoverCluster, type Inventory, type RunnablePhase } from "@causeway/magnum-migration";
import { expect } from "vitest";
import { programs } from "../programs.ts";
import { isPrevious } from "./names.ts";
import { startStage, type Stage, type StageOptions } from "./stage.ts";
import { playWorkers } from "./workers.ts";

const needed = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** The folder of Kubernetes' programs; undefined: not all are there. */
export function programsFolder(): string | undefined {
  const { kubernetes, previous } = programs();
  const place = isPrevious ? previous : kubernetes;
  return "dir" in place && needed.every((name) => existsSync(join(place.dir, name))) ? place.dir : undefined;
}

export interface Case extends Stage {
  discover(): Promise<Inventory>;
  /** What may not change before roll: the cluster's identity, its pods, the servers of the cloud. */
  vitals(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startCase(dir: string, options: StageOptions = {}): Promise<Case> {
  const stage = await startStage(dir, options);
  const workers = await playWorkers(stage.source, stage.simulator, stage.heat.workers);
  const { cloud, management, source } = stage;
  return {
    ...stage,
    discover: () => discoverCluster({ cloud, management, now: Date.now() }, "web", AbortSignal.timeout(60_000)),
    async vitals() {
      const pods = await source.list(Pod, { namespace: "default" });
      const system = await source.get(Namespace, { namespace: "", name: "kube-system" });
      const servers = await cloud.compute.servers.all({});
      return {
        system: system.metadata.uid,
        pods: pods.items.map(({ metadata }) => `${metadata.name} ${metadata.uid ?? ""}`).toSorted(),
        ports: (await cloud.network.ports.all({}))
          .filter(({ device_id }) => servers.some(({ id }) => id === device_id))
          .map(({ id, name, device_id }) => `${name} ${id} ${device_id}`)
          .toSorted(),
        servers: servers.map(({ id, name }) => `${name} ${id}`).toSorted(),
      };
    },
    async stop() {
      await workers.stop();
      await stage.close();
    },
  };
}

export async function serviceAccountToken({ source }: Stage): Promise<string> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 7_200 } };
  const made = (await source.request("POST", path, { body })) as { status: { token: string } };
  return made.status.token;
}

/** Who the cluster's API takes the bearer of a token for, by the address that it always had. */
export async function userOf({ sourceConfig }: Stage, token: string): Promise<string> {
  const { server, ca } = sourceConfig;
  const client = createClient({ server, ...(ca === undefined ? {} : { ca }), token });
  try {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const review = (await client.request("POST", path, { body })) as { status: { userInfo: { username: string } } };
    return review.status.userInfo.username;
  } finally {
    await client.close();
  }
}

/** After how many printed steps each run of a command is killed. */
const kills = [1, 4, 9];

/** Runs a phase by its command, which is killed and started again until it ends by itself. */
export async function killed(stage: Stage, phase: RunnablePhase, more: readonly string[] = []): Promise<string> {
  const plan = await stage.command(phase, { more: ["--dry-run"] });
  expect(`${plan.code} ${plan.stdout} ${plan.stderr}`).toMatch(/^0 would /);
  for (const [index, killAfter] of [...kills, Number.POSITIVE_INFINITY].entries()) {
    const ended = await stage.command(phase, { killAfter, more });
    if (ended.isKilled) continue;
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain("proof: ");
    console.log(`${phase}: killed ${index} times\n${ended.stdout}`);
    expect(index, "times that it was killed").toBeGreaterThan(0);
    return ended.stdout;
  }
  throw new Error(`${phase} does not end`);
}
