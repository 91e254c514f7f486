/** clusterctl moves a Cluster between two logical clusters of one API server: other paths of one address. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { makeDemo } from "./cluster-api/demo.ts";
import { apply, installInventory, installManagers, type Managers } from "./cluster-api/install.ts";
import { bringUp, conditionsOf, get, inventory, items, until } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { execute } from "./run.ts";

const { clusterApi, kubectls } = programs();
const minutes = 60_000;
const KINDS = "clusters,machines,machinesets,machinedeployments,stubclusters,stubmachines,stubmachinetemplates";

interface Side {
  readonly url: string;
  readonly kubeconfig: string;
  readonly text: string;
  readonly k: Kubectl;
  readonly everywhere: Kubectl;
}

describe("two logical clusters of one server", { timeout: 8 * minutes, retry: 0 }, () => {
  if ("reason" in clusterApi) test.skip(`clusterctl move (${clusterApi.reason})`);
  else scenario(clusterApi.dir);
});

function scenario(dir: string): void {
  const folder = mkdtempSync(join(tmpdir(), "programs-move-"));
  let server: ApiServer;
  let managers: Managers;
  let from: Side;
  let to: Side;

  async function side(name: string): Promise<Side> {
    const cluster = await server.ensureCluster(name, { webhooks: true });
    const text = await cluster.kubeconfig();
    const kubeconfig = join(folder, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, text, { mode: 0o600 });
    const on = (namespace: string): Kubectl =>
      kubectlOn({ dir: join(folder, name), kubeconfig }, kubectls[0] ?? "kubectl", { namespace, minor: 34 });
    return { url: cluster.url, kubeconfig, text, k: on("default"), everywhere: on("") };
  }

  beforeAll(async () => {
    server = await startApiServer();
    [from, to] = [await side("from"), await side("to")];
    managers = await installManagers(from.everywhere, { programs: dir, kubeconfig: from.kubeconfig, dir: folder });
    await apply(to.everywhere, managers.definitions);
    await to.everywhere.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
    for (const { everywhere } of [from, to]) await installInventory(everywhere, dir);
    await makeDemo(from.k, { url: from.url, kubeconfig: from.text });
    await until("machines", async () => (await items(from.k, "stubmachines")).length === 3);
    await bringUp(from.k);
    await until("a Cluster whose workers are there", async () => {
      const conditions = conditionsOf(await get(from.k, "cluster", "demo"));
      return conditions.includes("WorkersAvailable=True/Available") || conditions;
    });
  }, 8 * minutes);
  afterAll(async () => {
    await Promise.all(managers?.running.map((one) => one.stop()) ?? []);
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function move(): Promise<void> {
    const env = { HOME: folder, XDG_CONFIG_HOME: folder, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" };
    const args = ["move", "--kubeconfig", from.kubeconfig, "--to-kubeconfig", to.kubeconfig, "--namespace", "default"];
    const { code, stdout, stderr } = await execute(join(dir, "clusterctl"), args, { env, timeout: 6 * minutes });
    expect({ code, said: code === 0 ? "" : stdout + stderr }).toEqual({ code: 0, said: "" });
  }

  const held = async ({ k }: Side): Promise<string[]> => [
    ...(await inventory(k, KINDS)),
    ...(await inventory(k, "secrets")),
  ];

  test("two logical clusters of one server have one address and two paths", () => {
    const [a, b] = [new URL(from.url), new URL(to.url)];
    expect(a.host).toBe(b.host);
    expect([a.pathname, b.pathname]).toEqual(["/clusters/from", "/clusters/to"]);
  });

  test("a Cluster goes from one to the other, Secrets with it, owners re-made", async () => {
    // A Secret that a user wrote as bootstrap data is not part of the move.
    const moved = (await held(from)).filter((line) => line !== "Secret/demo-boot <- ");
    expect(moved.length).toBeGreaterThan(8);
    await move();
    expect(await held(to)).toEqual(moved);
    expect(await from.k.run("get", KINDS, "-o", "name")).not.toContain("demo");
  });
}
