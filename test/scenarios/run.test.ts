/** `causeway run cloud-controller-manager` in place of the upstream program, as a process of its own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { World } from "@causeway/cloud-controller-manager/testing";
import { Lease } from "@causeway/kubernetes";
import { loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { causeway, eventually, type Started } from "../support/processes.ts";

let world: World | undefined;
let simulator: Simulator | undefined;
let process_: Started | undefined;
let folder: string;

afterEach(async () => {
  await process_?.stop("SIGTERM");
  await world?.close();
  await simulator?.close();
  rmSync(folder, { recursive: true, force: true });
  world = simulator = process_ = undefined;
});

function cloudConf(config: CloudConfig, password?: string): string {
  const { auth, scope } = config;
  if (auth.type !== "password") throw new Error("the simulated cloud has passwords");
  return `[Global]
auth-url=${config.authUrl}
username=${auth.username}
password=${password ?? auth.password}
tenant-name=${scope?.projectName}
domain-name=${auth.userDomain?.name ?? "Default"}
region=RegionOne
[LoadBalancer]
lb-provider=ovn
use-octavia=true
[BlockStorage]
bs-version=v2
`;
}

interface Stage {
  readonly w: World;
  readonly conf: string;
  readonly config: CloudConfig;
  readonly start: (...flags: string[]) => Started;
}

async function staged(): Promise<Stage> {
  folder = mkdtempSync(join(tmpdir(), "causeway-run-"));
  const cloud = (simulator = await startSimulator({ profile: "instant" }));
  const config = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" });
  const server = await startApiServer();
  const w = (world = await World.start({ server, config, prefix: "run", servers: 1, patience: 30_000 }));
  const kubeconfig = join(folder, "admin.conf");
  const conf = join(folder, "cloud.conf");
  writeFileSync(kubeconfig, await server.management.kubeconfig(), { mode: 0o600 });
  writeFileSync(conf, cloudConf(config), { mode: 0o600 });
  const base = ["run", "cloud-controller-manager", "--cloud-config", conf, "--kubeconfig", kubeconfig];
  const start = (...flags: string[]) => (process_ = causeway([...base, "--cluster-name=run", ...flags]));
  return { w, conf, config, start };
}

function ask(port: number, path: string): Promise<number | undefined> {
  const agent = new Agent({ rejectUnauthorized: false });
  return new Promise((done, fail) => {
    get({ port, path, agent }, (answer) => done(answer.resume().statusCode)).on("error", fail);
  });
}

const lease = { namespace: "kube-system", name: "cloud-controller-manager" };

test("it runs with a manifest's flags: elected, healthy, nodes and Services served; its Lease is free when it has ended", async () => {
  const { w, start } = await staged();
  const ccm = start(
    ..."--cloud-provider=openstack --use-service-account-credentials=false --v=2 --bind-address=127.0.0.1".split(" "),
    ..."--controllers=*,-route --secure-port=20258 --leader-elect --concurrent-service-syncs=4".split(" "),
  );
  await w.joinAll();
  await w.createService("web");
  await w.served("web");
  expect((await w.client.get(Lease, lease)).spec?.holderIdentity).toMatch(/./);
  expect(await ask(20258, "/healthz")).toBe(200);
  expect(await ask(20258, "/metrics")).toBe(401);
  expect(ccm.output()).not.toMatch(/use-octavia.*not known|bs-version/);
  await w.remove("web");
  expect(await ccm.stop("SIGTERM")).toBe(143);
  expect((await w.client.get(Lease, lease)).spec?.holderIdentity ?? "").toBe("");
});

test("a password that is put right in cloud.conf is used without a restart", { timeout: 60_000 }, async () => {
  const { w, conf, config, start } = await staged();
  writeFileSync(conf, cloudConf(config, "wrong"));
  const ccm = start("--leader-elect=false", "--secure-port=0");
  const joining = w.joinAll();
  await ccm.until(/refused the user name/, 20_000);
  writeFileSync(conf, cloudConf(config));
  await joining;
  expect(ccm.child.exitCode).toBeNull();
  expect(ccm.output()).not.toContain("wrong");
});

test.each([
  ["--cluster-cidr=pods", "--cluster-cidr is not a CIDR"],
  ["--controllers=nodes", "--controllers is not *"],
  ["--leader-elect-lease-duration=15", "--leader-elect-lease-duration is not a duration"],
  ["--kubeconfig=/none/admin.conf", "there is no kubeconfig at /none/admin.conf"],
  ["--cloud-config=/none/cloud.conf", "/none/cloud.conf cannot be read"],
])("%s ends it with status 2 before anything is started", async (flag, message) => {
  const { start } = await staged();
  const ccm = start(flag);
  expect(await ccm.ended).toBe(2);
  await eventually(1_000, () => ccm.output().includes(message));
});
