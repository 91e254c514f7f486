/** Clusters of Magnum's Heat driver in the Magnum API, before anything of their migration is done. */
import { MagnumCluster, MagnumClusterTemplate } from "@causeway/api";
import { createAuthority, createRequest } from "@causeway/foundation";
import { ConfigMap } from "@causeway/kubernetes";
import { openStage, type Json, type Stage } from "@causeway/magnum-api/testing";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createProgress } from "./progress.ts";
import { migrationLabel, readRecord } from "../record/record.ts";
import { makeHeatCluster, type HeatCluster } from "../testing/heat-cluster.ts";
import { discoverCluster } from "./discover.ts";
import type { AnyPhase } from "../phase.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const UUID = "6e8ae3a5-0b4c-4f0e-9d26-0000000000c1";
const TEMPLATE = "6e8ae3a5-0b4c-4f0e-9d26-0000000000c2";
const signal = new AbortController().signal;
let stage: Stage;
let cloud: Cloud;
let heat: HeatCluster;
let origin: string;

const control = (method: string, id: string, body?: Json): Promise<Response> =>
  fetch(`${origin}/_control/magnum/clusters${id}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

async function fillOldMagnum(): Promise<void> {
  const of = (commonName: string) => createAuthority({ commonName, lifetime: 86_400_000 });
  const authorities = { kubernetes: await of("a"), etcd: await of("b"), frontProxy: await of("c") };
  const { status } = await control("POST", "", {
    ...heat.rows,
    template: {
      ...heat.rows.template,
      uuid: TEMPLATE,
      name: "heat-template",
      labels: { kube_tag: "v1.34.0" },
      dns_nameserver: "1.1.1.1",
      project_id: heat.rows.cluster["project_id"],
      public: false,
    },
    cluster: {
      ...heat.rows.cluster,
      cluster_template_id: TEMPLATE,
      api_address: `https://${heat.vip}:6443`,
      fixed_network: null,
      // No limit.
      create_timeout: 0,
      docker_volume_size: 20,
      // As Magnum counts: the workers of all node groups.
      node_count: 3,
      floating_ip_enabled: false,
      master_lb_enabled: true,
      discovery_url: "https://discovery.example.org/x",
    },
    nodegroups: heat.rows.nodegroups.map((group) => ({
      ...group,
      docker_volume_size: group["name"] === "big" ? 100 : 20,
      ...(group["name"] === "big" ? { labels: { kube_tag: "v1.34.0", docker_volume_type: "fast" } } : {}),
    })),
    authorities,
  });
  expect(status).toBeLessThan(300);
}

const discover = () =>
  discoverCluster({ cloud, management: stage.client, now: Date.parse("2026-11-28T10:00:00Z") }, UUID, signal);
const path = `/v1/clusters/${UUID}`;
const shown = async (): Promise<Json> => (await stage.call("demo", "GET", path)).body;

async function becomes(expected: Json): Promise<void> {
  await vi.waitFor(async () => expect(await shown()).toMatchObject(expected), { timeout: 20_000, interval: 50 });
}

beforeAll(async () => {
  stage = await openStage({ heatMagnum: true, rate: { perSecond: 1_000, burst: 1_000 } });
  const config = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  ({ origin } = new URL(config.authUrl));
  const endpointOverrides = { "container-infrastructure-management": `${origin}/container-infra/v1` };
  cloud = connectCloud({ ...config, endpointOverrides });
  heat = await makeHeatCluster(cloud, { uuid: UUID, name: "web", masters: 3, workers: [2, 1], version: "v1.34.0" });
  await fillOldMagnum();
});
afterAll(async () => {
  await cloud.close();
  await stage.close();
});

describe("a cluster of Magnum's Heat driver", () => {
  test("is not shown before it is discovered, and discovery with --dry-run does not show it", async () => {
    await discoverCluster({ cloud, management: undefined, now: 0 }, UUID, signal);
    expect((await stage.call("demo", "GET", path)).status).toBe(404);
  });

  test("is shown as its Magnum reports it, with its template, and with the command that migrates it", async () => {
    await discover();
    await becomes({
      uuid: UUID,
      name: "web",
      status: "CREATE_COMPLETE",
      status_reason: expect.stringMatching(
        /Heat driver, as its Magnum reported it at 2026-11-28T10:00:00.000Z.*migrate magnum freeze web/,
      ) as string,
      api_address: `https://${heat.vip}:6443`,
      master_count: 3,
      node_count: 3,
      create_timeout: 0,
      discovery_url: "https://discovery.example.org/x",
      coe_version: "v1.34.0",
      cluster_template_id: TEMPLATE,
    });
    const body = await shown();
    expect(body["master_addresses"]).toHaveLength(3);
    expect(body["node_addresses"]).toEqual(heat.workers.map(({ address }) => address));
    const template = await stage.call("demo", "GET", `/v1/clustertemplates/${TEMPLATE}`);
    expect(template).toMatchObject({ status: 200, body: { name: "heat-template", dns_nameserver: "1.1.1.1" } });
    const list = (await stage.call("demo", "GET", "/v1/clusters")).body["clusters"] as readonly Json[];
    expect(list.map(({ uuid, status }) => [uuid, status])).toEqual([[UUID, "CREATE_COMPLETE"]]);
    const groups = (await stage.call("demo", "GET", `${path}/nodegroups`)).body["nodegroups"] as readonly Json[];
    expect(groups.map(({ name, status }) => [name, status])).toEqual([
      ["default-master", "CREATE_COMPLETE"],
      ["default-worker", "CREATE_COMPLETE"],
      ["big", "CREATE_COMPLETE"],
    ]);
    expect((await stage.call("alt", "GET", path)).status).toBe(404);
  });

  test("has every attribute that Terraform compares as its Magnum has it, and so have its template and node groups", async () => {
    const magnum = cloud.containerInfrastructure;
    const of = (from: object, names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, (from as Json)[name] ?? null]));
    const inCluster = [
      "name",
      "project_id",
      "user_id",
      "cluster_template_id",
      "keypair",
      "labels",
      "flavor_id",
      "master_flavor_id",
      "create_timeout",
      "discovery_url",
      "docker_volume_size",
      "master_count",
      "node_count",
      "api_address",
      "floating_ip_enabled",
      "master_lb_enabled",
      "coe_version",
    ];
    expect(of(await shown(), inCluster)).toEqual(of(await magnum.clusters.get(UUID), inCluster));
    const inTemplate = [
      "name",
      "coe",
      "image_id",
      "flavor_id",
      "master_flavor_id",
      "dns_nameserver",
      "keypair_id",
      "labels",
      "external_network_id",
      "fixed_network",
      "fixed_subnet",
      "network_driver",
      "volume_driver",
      "http_proxy",
      "docker_volume_size",
      "master_lb_enabled",
      "tls_disabled",
      "public",
      "project_id",
    ];
    const here = (await stage.call("demo", "GET", `/v1/clustertemplates/${TEMPLATE}`)).body;
    expect(of(here, inTemplate)).toEqual(of(await magnum.clusterTemplates.get(TEMPLATE), inTemplate));
    const inGroup = [
      "name",
      "role",
      "node_count",
      "min_node_count",
      "max_node_count",
      "flavor_id",
      "image_id",
      "docker_volume_size",
      "labels",
    ];
    for (const group of await magnum.nodeGroups(UUID).all({})) {
      if (group.name === "default-master") continue;
      const { body } = await stage.call("demo", "GET", `${path}/nodegroups/${group.uuid}`);
      expect(of(body, inGroup)).toEqual(of(await magnum.nodeGroups(UUID).get(group.uuid), inGroup));
    }
  });

  test("can be changed in no way here", async () => {
    const { request } = await createRequest({ commonName: "admin" });
    const before = await stage.client.list(MagnumCluster, {});
    const patch = [{ op: "replace", path: "/node_count", value: 5 }];
    const requests: readonly (readonly [string, string, unknown?])[] = [
      ["PATCH", path, patch],
      ["PATCH", path, [{ op: "replace", path: "/health_status", value: "HEALTHY" }]],
      ["DELETE", path],
      ["POST", `${path}/actions/resize`, { node_count: 5 }],
      ["POST", `${path}/actions/resize`, { node_count: 5, nodegroup: "default-master" }],
      ["POST", `${path}/actions/upgrade`, { cluster_template: TEMPLATE }],
      ["POST", `${path}/nodegroups`, { name: "more", node_count: 1 }],
      ["PATCH", `${path}/nodegroups/big`, [{ op: "replace", path: "/max_node_count", value: 9 }]],
      ["DELETE", `${path}/nodegroups/big`],
      ["PATCH", `/v1/certificates/${UUID}`, {}],
      ["PATCH", `/v1/credentials/${UUID}`, {}],
      ["GET", `/v1/certificates/${UUID}`],
      ["POST", "/v1/certificates", { cluster_uuid: UUID, csr: request }],
    ];
    for (const [method, at, body] of requests) {
      const reply = await stage.call("demo", method, at, body === undefined ? {} : { body });
      expect([method, at, reply.status], JSON.stringify(reply.body)).toEqual([method, at, 409]);
      expect(JSON.stringify(reply.body)).toContain("only shown here");
    }
    // Not even its template can be deleted under it.
    expect((await stage.call("demo", "DELETE", `/v1/clustertemplates/${TEMPLATE}`)).status).toBe(400);
    const after = await stage.client.list(MagnumCluster, {});
    expect(after.items.map(({ spec, metadata }) => [spec, metadata.deletionTimestamp])).toEqual(
      before.items.map(({ spec, metadata }) => [spec, metadata.deletionTimestamp]),
    );
  });

  test("follows its Magnum with each discovery, also into a state in which it cannot be migrated", async () => {
    await control("POST", `/${UUID}`, {
      status: "UPDATE_FAILED",
      status_reason: "no valid host",
      health_status: "UNHEALTHY",
    });
    await expect(discover()).rejects.toThrow(expect.objectContaining({ code: "MIGRATE_BLOCKED" }));
    await becomes({
      status: "UPDATE_FAILED",
      health_status: "UNHEALTHY",
      status_reason: expect.stringMatching(/^no valid host\..*cannot be migrated: .*\(MIGRATE_STATUS\)/) as string,
    });
    await control("POST", `/${UUID}`, { status: "ROLLBACK_COMPLETE", status_reason: "" });
    await discover();
    await becomes({
      status: "UPDATE_COMPLETE",
      status_reason: expect.stringContaining("status ROLLBACK_COMPLETE") as string,
    });
    expect((await stage.client.list(MagnumClusterTemplate, {})).items).toHaveLength(1);
  });

  test("is left to its migration once a phase has begun, with the addresses that it still has", async () => {
    const record = await readRecord(stage.client, UUID, signal);
    const clock = { now: () => Date.now(), sleep: async () => {} } as unknown as Parameters<
      typeof createProgress
    >[0]["clock"];
    const progress = createProgress(
      { management: stage.client, clock },
      record,
      { name: "freeze" } as AnyPhase,
      signal,
    );
    await progress.running();
    await becomes({
      status: "UPDATE_IN_PROGRESS",
      api_address: `https://${heat.vip}:6443`,
      status_reason: expect.stringContaining("Phase freeze") as string,
    });
    await progress.running("machine web-node-0 to be reached");
    await becomes({
      status_reason: expect.stringContaining("It waits for machine web-node-0 to be reached") as string,
    });
    expect((await stage.call("demo", "DELETE", path)).status).toBe(409);
    expect((await stage.call("demo", "PATCH", `/v1/credentials/${UUID}`, { body: {} })).status).toBe(409);
    const [row] = (await stage.client.list(MagnumCluster, {})).items;
    const annotations = { "magnum.causeway.dev/migrating": "discover Done 2026-11-28T10:00:00.000Z" };
    const key = { namespace: row?.metadata.namespace ?? "", name: row?.metadata.name ?? "" };
    await stage.client.patch(MagnumCluster, key, { type: "merge", body: { metadata: { annotations } } });
  });

  test("is not shown any longer when its Magnum does not have it any more", async () => {
    await control("DELETE", `/${UUID}`);
    await expect(discover()).rejects.toThrow(expect.objectContaining({ code: "MIGRATE_CLUSTER_UNKNOWN" }));
    await vi.waitFor(async () => expect((await stage.call("demo", "GET", path)).status).toBe(404), { timeout: 20_000 });
    expect((await stage.client.list(ConfigMap, { labelSelector: migrationLabel })).items).toEqual([]);
  });
});
