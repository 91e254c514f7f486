/** Kubeconfigs that `causeway` writes for users of Keystone, used by a stock kubectl. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HostedControlPlane } from "@causeway/api";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { causeway, type Started } from "../support/processes.ts";
import { programs } from "./programs.ts";
import { execute, type Ended } from "./run.ts";

const START = join(import.meta.dirname, "../../packages/causeway/src/start.js");

describe("a kubeconfig for users of Keystone", () => {
  const [kubectl = ""] = programs().kubectls;
  if (kubectl === "") {
    test.skip("kubectl could not be built");
    return;
  }
  const dir = mkdtempSync(join(tmpdir(), "keystone-kubeconfig-"));
  const cloudsYaml = join(dir, ".causeway/clouds.yaml");
  const management = join(dir, ".causeway/management.kubeconfig");
  const env = { KUBECONFIG: management, OS_CLOUD: "", OS_CLIENT_CONFIG_FILE: cloudsYaml, XDG_CACHE_HOME: dir };
  let up: Started;

  const run = (...args: string[]): Promise<Ended> => execute(process.execPath, [START, ...args], { env });
  const asUser = (name: string, ...args: string[]): Promise<Ended> =>
    execute(kubectl, ["--kubeconfig", join(dir, name), ...args], { env });

  beforeAll(async () => {
    up = causeway(["up"], { cwd: dir });
    await up.until(/management\.kubeconfig/);
    const created = await execute(
      process.execPath,
      [START, "create", "cluster", "web", "--replicas", "0", "--cloud", "simulator"],
      { env, timeout: 150_000 },
    );
    expect(created.stderr).toBe("");
  });
  afterAll(async () => {
    await up.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test("is refused for a cluster that takes no tokens", async () => {
    const refused = await run("kubeconfig", "cluster", "web", "--keystone");
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("CLUSTER_WITHOUT_KEYSTONE") });
    expect(refused.stderr).toContain("spec.authentication.keystone of HostedControlPlane default/web");
  });

  test("lets a user of the project in, and no user of another one", async () => {
    const config = loadCloudsYaml({ cloud: "simulator", path: cloudsYaml });
    const cloud = connectCloud(config);
    const project = await cloud.projectId();
    await cloud.close();
    const client = createClient(loadKubeconfig({ path: management }));
    const keystone = {
      authURL: config.authUrl,
      projects: [project],
      roleMappings: [{ keystoneRole: "member", groups: ["system:masters"] }],
    };
    await client.patch(
      HostedControlPlane,
      { namespace: "default", name: "web" },
      { type: "merge", body: { spec: { authentication: { keystone } } } },
    );
    await client.close();

    const printed = await run("kubeconfig", "cluster", "web", "--keystone", "--cloud", "simulator");
    expect(printed).toMatchObject({
      code: 0,
      stderr: `The cluster takes tokens of ${config.authUrl} for project ${project}.\n`,
    });
    expect(printed.stdout).not.toMatch(/client-(certificate|key)|token:|password/);
    writeFileSync(join(dir, "mine"), printed.stdout, { mode: 0o600 });
    await expect
      .poll(async () => (await asUser("mine", "get", "namespaces", "-o", "name")).stdout, { timeout: 60_000 })
      .toContain("namespace/kube-system");

    const others = await run("kubeconfig", "cluster", "web", "--keystone", "--cloud", "simulator-alt");
    writeFileSync(join(dir, "others"), others.stdout, { mode: 0o600 });
    expect((await asUser("others", "get", "namespaces")).stderr).toMatch(/Unauthorized|must be logged in/);
  });

  test("written by --for-kubeconfig has all flags, and its secret in the environment of the plugin", async () => {
    const { auth, authUrl } = loadCloudsYaml({ cloud: "simulator", path: cloudsYaml });
    const password = auth.type === "password" ? auth.password : "";
    writeFileSync(join(dir, "admin"), (await run("kubeconfig", "cluster", "web")).stdout, { mode: 0o600 });
    const user = ["--user-name", "demo", "--project-name", "demo", "--domain-name", "Default", "--password", password];
    const flags = ["--keystone-url", authUrl, ...user, "--no-cache"];
    const printed = await run("keystone-token", "--for-kubeconfig", join(dir, "admin"), ...flags);
    writeFileSync(join(dir, "flags"), printed.stdout, { mode: 0o600 });
    expect(await asUser("flags", "get", "namespaces", "-o", "name")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("namespace/default"),
    });
  });
});
