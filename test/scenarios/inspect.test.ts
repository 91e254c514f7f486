/** `causeway doctor`, `plan` and `sweep` as a person runs them, on a simulated cloud with a cluster in it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { startApiServer } from "@causeway/apiserver";
import { World } from "@causeway/cloud-controller-manager/testing";
import { loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { TIMEOUT, causeway } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

let world: World | undefined;
let simulator: Simulator | undefined;
let folder: string | undefined;

afterEach(async () => {
  await world?.close();
  await simulator?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  world = simulator = folder = undefined;
});

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

test("a Service is planned, served, forgotten and swept; the doctor sees cloud and cluster", async () => {
  folder = mkdtempSync(join(tmpdir(), "causeway-inspect-"));
  const cloud = (simulator = await startSimulator({ profile: "instant" }));
  const config = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" });
  const server = await startApiServer();
  const w = (world = await World.start({ server, config, prefix: "shop", servers: 1, timeout: 60_000 }));
  const files = { clouds: join(folder, "clouds.yaml"), kubeconfig: join(folder, "admin.conf") };
  writeFileSync(files.clouds, cloud.cloudsYaml, { mode: 0o600 });
  writeFileSync(files.kubeconfig, await server.management.kubeconfig(), { mode: 0o600 });
  const run = async (...args: readonly string[]): Promise<Ended> => {
    const env = { OS_CLIENT_CONFIG_FILE: files.clouds, OS_CLOUD: "simulator" };
    const started = causeway([...args, "--kubeconfig", files.kubeconfig], { env });
    return { status: await started.ended, output: started.output() };
  };

  const manager = w.run({ provider: "amphora" });
  await w.joinAll();
  await manager.stop();
  await w.createService("web");
  const planned = await run("plan", "service", "default/web", "--cluster-name", "shop");
  expect(planned.output).toMatch(
    /^round 1:\nadd-finalizer\n {4}PATCH kubernetes \/services\/\{name\}\nround 2:\ncreate-load-balancer kube_service_shop_default_web\n/,
  );
  expect(planned.output).toMatch(/\ncreate-floating-ip[^\n]*\n {4}POST network \/floatingips\n/);
  expect(planned.output).toMatch(/\n\d steps in \d rounds, \d calls\n$/);
  expect(planned.status).toBe(0);
  expect((await w.service("web")).metadata.finalizers ?? []).toEqual([]);
  expect((await run("plan", "service", "default/none")).status).toBe(2);
  expect((await run("plan", "services", "-A", "--cluster-name", "shop", "--detailed-exitcode")).status).toBe(3);

  const again = w.run({ provider: "amphora" });
  await w.served("web");
  await again.stop();
  const still = await run("plan", "service", "default/web", "--cluster-name", "shop", "-o", "json");
  const asYaml = await run("plan", "service", "default/web", "--cluster-name", "shop", "-o", "yaml");
  expect(parse(asYaml.output)).toEqual(JSON.parse(still.output));
  expect(JSON.parse(still.output)).toMatchObject({ rounds: [], securityGroup: [], complete: true });

  const done = await run("plan", "svc", "web", "-n", "default", "--cluster-name", "shop", "--detailed-exitcode");
  expect(done.status).toBe(0);
  const renamed = await run("plan", "service", "web", "--cluster-name", "other");
  expect(renamed.output).toContain('    ~ name: "kube_service_shop_default_web" -> "kube_service_other_default_web"');

  await w.change("web", { metadata: { finalizers: null } });
  await w.remove("web");
  const dry = await run("sweep", "--cluster-name", "shop", "--dry-run", "--detailed-exitcode");
  expect(dry.status).toBe(3);
  expect(dry.output).toContain("found    load balancer kube_service_shop_default_web of Service default/web");
  expect(await w.loadBalancers()).toHaveLength(1);
  const wrong = await run("sweep", "--cluster-name", "chop", "--dry-run");
  expect(wrong.output).toContain("Nothing in this project has the cluster name chop. Clusters that have: shop.");
  const unasked = await run("sweep", "--cluster-name", "shop");
  expect(unasked.output).toContain("SWEEP_NOT_CONFIRMED");
  expect(unasked.status).toBe(2);
  expect(await w.loadBalancers()).toHaveLength(1);
  const swept = await run("sweep", "--cluster-name", "shop", "--floating-ips", "--yes", "-o", "json");
  expect(swept.status).toBe(0);
  expect(await w.loadBalancers()).toEqual([]);

  const doctor = await run("doctor", "-o", "json");
  expect(doctor.status).toBe(0);
  const { findings } = JSON.parse(doctor.output) as { findings: { feature: string; state: string }[] };
  expect(findings.find((finding) => finding.feature === "nodes")?.state).toBe("works");
  cloud.setQuota("demo", "floatingip", 0);
  expect((await run("doctor")).status).toBe(3);
});
