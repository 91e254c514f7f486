/** `causeway run cloud-controller-manager` in place of the upstream program, as a process of its own. */
import { writeFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { afterEach, expect, test, vi } from "vitest";
import { Event, Lease } from "@causeway/kubernetes";
import { cloudConf, stageFolder, stageManager, type ManagerStage } from "../support/manager-stage.ts";
import { TIMEOUT } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

let stage: ManagerStage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function staged(): Promise<ManagerStage> {
  return (stage = await stageManager(stageFolder()));
}

function ask(port: number, path: string, tls: { maxVersion?: "TLSv1.2" } = {}): Promise<number | undefined> {
  const agent = new Agent({ rejectUnauthorized: false, ...tls });
  return new Promise((done, fail) => {
    get({ port, path, agent }, (answer) => done(answer.resume().statusCode)).on("error", fail);
  });
}

function read(port: number, path: string): Promise<string> {
  const agent = new Agent({ rejectUnauthorized: false });
  return new Promise((done, fail) => {
    get({ port, path, agent }, (answer) => {
      let text = "";
      answer.on("data", (part: Buffer) => (text += part.toString("utf8")));
      answer.on("end", () => done(text));
    }).on("error", fail);
  });
}

const lease = { namespace: "kube-system", name: "cloud-controller-manager" };

test("the cloud controller runs with a manifest's flags: elected, healthy, nodes and Services served; its Lease is free when it has ended", async () => {
  const { w, start } = await staged();
  const ccm = start(
    ..."--cloud-provider=openstack --use-service-account-credentials=false --v=2 --bind-address=127.0.0.1".split(" "),
    ..."--controllers=*,-route --secure-port=20258 --leader-elect --concurrent-service-syncs=4".split(" "),
    ..."--tls-min-version=VersionTLS13 --vmodule=x=2 --requestheader-allowed-names=front --webhooks=".split(" "),
  );
  await w.joinAll();
  await w.createService("web");
  await w.served("web");
  expect((await w.client.get(Lease, lease)).spec?.holderIdentity).toMatch(/./);
  expect(await ask(20258, "/healthz")).toBe(200);
  expect(await ask(20258, "/metrics")).toBe(401);
  await expect(ask(20258, "/healthz", { maxVersion: "TLSv1.2" })).rejects.toThrow(/protocol version/);
  expect(ccm.output()).not.toMatch(/use-octavia.*not known|bs-version/);
  // What it did is in the log, with the level as a word.
  const lines = ccm
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(logged[0]).toMatchObject({ level: "info", msg: "starting the cloud controller manager", version: "0.1.0" });
  const created = { step: "create-load-balancer", namespace: "default", name: "web" };
  expect(logged).toContainEqual(expect.objectContaining({ ...created, level: "info", msg: "performed a step" }));
  await w.remove("web");
  expect(await ccm.stop("SIGTERM")).toBe(143);
  expect(ccm.output()).toContain('"msg":"stopped"');
  expect((await w.client.get(Lease, lease)).spec?.holderIdentity ?? "").toBe("");
});

test("refused credentials keep the controller from leading and unready until cloud.conf is corrected", async () => {
  const { w, conf, config, start } = await staged();
  writeFileSync(conf, cloudConf(config, "not-their-password"));
  await w.createService("web");
  const ccm = start("--leader-elect", "--bind-address=127.0.0.1", "--secure-port=20261");
  const joining = w.joinAll();
  await ccm.until(/refused the user name/);
  const refused = () =>
    w.client
      .list(Event, { namespace: "default", fieldSelector: "reason=CloudCredentialsRefused" })
      .then((l) => l.items);
  await expect.poll(async () => (await refused()).map(({ involvedObject }) => involvedObject.name)).toEqual(["web"]);
  expect(await ask(20261, "/readyz")).toBe(503);
  expect(await ask(20261, "/healthz")).toBe(200);
  expect(await w.client.find(Lease, lease)).toBeUndefined();
  writeFileSync(conf, cloudConf(config));
  await joining;
  expect(await ask(20261, "/readyz")).toBe(200);
  expect(ccm.output().match(/refuses the credentials of cloud.conf/g)).toHaveLength(1);
  expect(ccm.child.exitCode).toBeNull();
  expect(ccm.output()).not.toContain("not-their-password");
});

test("the cloud controller's metrics have upstream's names after one load balancer", async () => {
  const { w, start } = await staged();
  start(
    "--leader-elect",
    "--bind-address=127.0.0.1",
    "--secure-port=20259",
    "--authorization-always-allow-paths=/metrics",
  );
  await w.joinAll();
  await w.createService("web");
  await w.served("web");
  expect(await ask(20259, "/healthz")).toBe(401);
  const text = await read(20259, "/metrics");
  for (const series of [
    'openstack_api_requests_total{request="loadbalancer_create"} 1',
    'openstack_api_request_duration_seconds_count{request="server_list"}',
    'cloudprovider_openstack_reconcile_total{operation="loadbalancer_ensure"}',
    'cloudprovider_openstack_reconcile_duration_seconds_bucket{le="1000",operation="loadbalancer_ensure"}',
    "service_controller_loadbalancer_sync_total",
    "service_controller_nodesync_latency_seconds_count",
    "node_controller_cloud_provider_taint_removal_delay_seconds_count 1",
    'leader_election_master_status{name="cloud-controller-manager"} 1',
    "node_controller_initial_node_sync_delay_seconds_count 1",
    'workqueue_adds_total{name="service"}',
    'workqueue_depth{name="Nodes"} 0',
    'workqueue_work_duration_seconds_count{name="service"}',
    `rest_client_requests_total{code="200",method="GET",host="`,
    'rest_client_request_duration_seconds_count{verb="PATCH",host="',
  ])
    expect(text).toContain(series);
  await w.remove("web");
});
