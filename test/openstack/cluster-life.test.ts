/** What becomes of a cluster's machines on a real OpenStack: scaled, replaced, remediated, deleted. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProject, type Project } from "../nodes/project.ts";
import { inventory } from "../support/inventory.ts";
import { causeway, eventually, kubectl, type Started } from "../support/processes.ts";

const TIMEOUT = 15 * 60_000;
const NAME = "life";
const WORKERS = `${NAME}-workers`;
const CORE = "cluster.x-k8s.io";

describe("the machines of a cluster on a real OpenStack", () => {
  let dir: string;
  let project: Project;
  let before: readonly string[];
  const started: Started[] = [];
  const start = (...args: string[]): Started => {
    const program = causeway(args, { env: { OS_CLIENT_CONFIG_FILE: project.clouds } });
    started.push(program);
    return program;
  };
  const manage = (...args: readonly string[]) => kubectl(join(dir, "state/management.kubeconfig"), ...args);

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "causeway-life-"));
    project = await openProject(process.env["OS_CLOUD"] ?? "devcloud", join(dir, "clouds.yaml"));
    before = await inventory(project.cloud);
    start("machine-agent", "--cloud", project.entry, "--state", join(dir, "machines"));
    const up = start("up", "--cloud", project.entry, "--state", join(dir, "state"));
    await up.until(/management API/i);
  });

  afterAll(async () => {
    for (const program of started.reverse()) await program.stop();
    await project?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const servers = async () => (await project.cloud.compute.servers.all()).map(({ name }) => name).sort();
  const machines = () =>
    manage("get", "machines", "-o", "jsonpath={.items[*].metadata.name}")
      .split(" ")
      .filter((name) => name !== "");

  /** The names of Nodes that are Ready, as the workload cluster has them. */
  function readyNodes(): string[] {
    const lines = kubectl(join(dir, "workload.kubeconfig"), "get", "nodes", "--no-headers").split("\n");
    return lines.flatMap((line) => /^(\S+)\s+Ready\s/.exec(line)?.[1] ?? []).sort();
  }

  /** Waits until exactly these many servers are there, each of them a Ready Node and a Machine. */
  async function settled(replicas: number): Promise<readonly string[]> {
    return eventually(TIMEOUT, async () => {
      const there = await servers();
      const isSettled = isDeepStrictEqual(readyNodes(), there) && isDeepStrictEqual(machines().sort(), there);
      return isSettled && there.length === replicas && there;
    });
  }

  test("created with three", async () => {
    const at = ["--kubeconfig", join(dir, "state/management.kubeconfig"), "--namespace", "default"];
    const size = ["--cloud", project.entry, "--replicas", "3", "--timeout", "1800"];
    const create = start("create", "cluster", NAME, ...at, ...size);
    expect(await create.ended, create.output()).toBe(0);
    const printed = start("kubeconfig", "cluster", NAME, ...at);
    await printed.ended;
    writeFileSync(join(dir, "workload.kubeconfig"), printed.output(), { mode: 0o600 });
    await settled(3);
  });

  test("scaled to ten and back to three, of which none is new", async () => {
    const first = await settled(3);
    manage("scale", "machinedeployment", WORKERS, "--replicas=10");
    const ten = await settled(10);
    expect(ten).toEqual(expect.arrayContaining([...first]));
    manage("scale", "machinedeployment", WORKERS, "--replicas=3");
    const three = await settled(3);
    expect(ten).toEqual(expect.arrayContaining([...three]));
  });

  test("replaced one by one: all are new, and there are always three that are Ready, and at most four that are not being deleted", async () => {
    const old = new Set(await settled(3));
    const rollout = { spec: { rollout: { after: new Date().toISOString() } } };
    manage("patch", "machinedeployment", WORKERS, "--type=merge", "-p", JSON.stringify(rollout));
    const counts: { ready: number; staying: number }[] = [];
    await eventually(TIMEOUT, async () => {
      const [there, ready] = [await servers(), readyNodes()];
      const { items } = JSON.parse(manage("get", "machines", "-o", "json")) as { items: MachineView[] };
      const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
      counts.push({ ready: ready.length, staying });
      return there.length === 3 && isDeepStrictEqual(ready, there) && !there.some((name) => old.has(name));
    });
    expect(Math.min(...counts.map(({ ready }) => ready))).toBeGreaterThanOrEqual(3);
    expect(Math.max(...counts.map(({ staying }) => staying))).toBeLessThanOrEqual(4);
  });

  test("one whose server was stopped from outside is replaced, and the others remain", async () => {
    const check = {
      apiVersion: `${CORE}/v1beta2`,
      kind: "MachineHealthCheck",
      metadata: { name: NAME },
      spec: {
        clusterName: NAME,
        selector: { matchLabels: { [`${CORE}/deployment-name`]: WORKERS } },
        checks: { unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 10 }] },
      },
    };
    const file = join(dir, "check.json");
    writeFileSync(file, JSON.stringify(check));
    manage("apply", "-f", file);
    const names = await settled(3);
    const victim = (await project.cloud.compute.servers.all()).find(({ name }) => name === names[0]);
    if (victim === undefined) throw new Error(`no server ${names[0]}`);
    await project.cloud.compute.serverActions.stop(victim.id);
    await eventually(TIMEOUT, async () => !(await servers()).includes(victim.name));
    const after = await settled(3);
    expect(after).toEqual(expect.arrayContaining(names.slice(1)));
  });

  test("deleted: the project is as it was", async () => {
    manage("delete", "cluster", NAME, "--timeout=900s");
    await eventually(TIMEOUT, async () => isDeepStrictEqual(await inventory(project.cloud), before));
  });
});

interface MachineView {
  readonly metadata: { readonly deletionTimestamp?: string };
}
