/**
 * The requests that Horizon's Magnum panels send (magnum-ui/requests.json, recorded by tools/magnum-ui/record.py from
 * magnum-ui's own code and python-magnumclient), in the order of a user's day, on the Magnum API of `causeway up`:
 * values are texts, those that were not filled in empty, labels of forms numbers and truth values.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createRequest } from "@causeway/foundation";
import { connectCloud, issueToken, loadCloudsYaml } from "@causeway/openstack";
import { eventually } from "../../support/processes.ts";
import type { OpenedCloud } from "../../support/suite-cloud.ts";
import { openSystemCloud } from "../../support/system-cloud.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const MINUTE = 60_000;

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly version: string;
  readonly body?: unknown;
}

type Json = Readonly<Record<string, unknown>>;

const table = JSON.parse(readFileSync(join(import.meta.dirname, "magnum-ui/requests.json"), "utf8")) as readonly {
  readonly name: string;
  readonly requests: readonly Recorded[];
}[];

let opened: OpenedCloud;
let url = "";
const tokens = new Map<string, string>();
/** What the placeholders of the recording represent. */
const ids = new Map<string, string>();
const sent = new Set<string>();

beforeAll(async () => {
  opened = await openSystemCloud();
  const { text } = opened.cloud;
  for (const cloud of ["simulator", "simulator-admin"]) {
    const { token, projectId = "" } = await issueToken(loadCloudsYaml({ cloud, text }));
    tokens.set(cloud, token);
    if (cloud === "simulator") ids.set("project", projectId);
  }
  const admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text }));
  const [service] = await admin.identity.services.all({ type: "container-infra" });
  const [endpoint] = await admin.identity.endpoints.all({ service_id: service?.id ?? "" });
  url = endpoint?.url.replace(/\/v1\/?$/, "") ?? "";
  await admin.close();
  ids.set("csr", (await createRequest({ commonName: "admin", organizations: ["system:masters"] })).request);
});

afterAll(() => opened.close());

interface Reply {
  readonly status: number;
  readonly body: Json;
}

async function send({ method, path, version, body }: Recorded, as: string): Promise<Reply> {
  const filled = (text: string): string =>
    text.replaceAll(/\{(cluster|template|other|project|csr)\}/g, (_, name: string) =>
      JSON.stringify(ids.get(name) ?? "").slice(1, -1),
    );
  const response = await fetch(`${url}${filled(path)}`, {
    method,
    headers: {
      "x-auth-token": tokens.get(as) ?? "",
      "openstack-api-version": version,
      "content-type": "application/json",
      accept: "application/json",
    },
    ...(body === undefined ? {} : { body: filled(JSON.stringify(body)) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Json) };
}

/** Sends what the panel sends for it, and holds the statuses of the responses; gives the last one's body. */
async function does(name: string, statuses: readonly number[], as = "simulator"): Promise<Json> {
  const found = table.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`${name} is not recorded`);
  sent.add(name);
  const replies: Reply[] = [];
  for (const request of found.requests) replies.push(await send(request, as));
  expect([name, ...replies.map(({ status }) => status)], JSON.stringify(replies.at(-1)?.body)).toEqual([
    name,
    ...statuses,
  ]);
  return replies.at(-1)?.body ?? {};
}

const uuidIn = (body: Json): string => String(body["uuid"]);
const shown = () => does("cluster: show", [200]);
const becomes = (status: string) => eventually(4 * MINUTE, async () => (await shown())["status"] === status);

describe("the Magnum API understands Horizon's panels:", () => {
  it("templates: create, list, show and update", async () => {
    ids.set("template", uuidIn(await does("template: create with what has to be filled in", [201])));
    const other = await does("template: create with all switches", [201]);
    ids.set("other", uuidIn(other));
    expect(other).toMatchObject({
      public: false,
      tls_disabled: false,
      master_lb_enabled: true,
      floating_ip_enabled: true,
      docker_volume_size: 3,
      no_proxy: "10.0.0.0/8",
    });
    expect((await does("template: list", [200]))["clustertemplates"]).toHaveLength(2);
    expect(await does("template: show", [200])).toMatchObject({ name: "panel", labels: { kube_tag: "v1.34.0" } });
    const changed = await does("template: update of the name and the name server", [200, 200]);
    expect(changed).toMatchObject({ name: "panel-2", dns_nameserver: "1.1.1.1" });
  });

  it("clusters: create with empty texts, with numbers as text, and with labels that are no text", async () => {
    const numbers = uuidIn(await does("cluster: create with numbers, flavors and zone", [202]));
    ids.set("cluster", numbers);
    expect(await shown()).toMatchObject({ node_count: 2, master_count: 1, flavor_id: "m1.small", keypair: null });
    await does("cluster: delete", [204]);
    ids.set("cluster", uuidIn(await does("cluster: create with what has to be filled in", [202])));
    expect(await shown()).toMatchObject({
      name: "panel",
      node_count: 1,
      create_timeout: 60,
      keypair: null,
      master_lb_enabled: false,
      status: "CREATE_IN_PROGRESS",
    });
    await becomes("CREATE_COMPLETE");
    const listed = (await does("cluster: list", [200]))["clusters"] as readonly Json[];
    expect(listed.map(({ name }) => name)).toContain("panel");
  });

  it("a cluster: update, resize with nodes to remove, and upgrade", async () => {
    await does("cluster: update of the number of nodes", [200, 202]);
    expect(await shown()).toMatchObject({ node_count: 2, status: "UPDATE_IN_PROGRESS" });
    await becomes("UPDATE_COMPLETE");
    const groups = (await does("cluster: what the resize dialog reads", [200, 200]))["nodegroups"] as readonly Json[];
    expect(groups.map(({ name }) => name)).toEqual(["default-master", "default-worker"]);
    await does("cluster: resize up", [202]);
    await becomes("UPDATE_COMPLETE");
    expect(await shown()).toMatchObject({ node_count: 3 });
    await does("cluster: resize down with a node to remove", [202]);
    await becomes("UPDATE_COMPLETE");
    expect(await shown()).toMatchObject({ node_count: 2 });
    // Both templates name one version: no node is replaced, and it may be complete at once.
    expect((await shown())["cluster_template_id"]).toBe(ids.get("template"));
    await does("cluster: upgrade", [202]);
    await becomes("UPDATE_COMPLETE");
    expect((await shown())["cluster_template_id"]).toBe(ids.get("other"));
  });

  it("a cluster: configuration, authority, signing, credential and stats", async () => {
    const { pem } = await does("cluster: configuration", [200, 200, 200, 201]);
    expect(pem).toContain("BEGIN CERTIFICATE");
    expect((await does("certificate: show", [200]))["pem"]).toContain("BEGIN CERTIFICATE");
    expect((await does("certificate: sign", [201]))["pem"]).toContain("BEGIN CERTIFICATE");
    await does("credential: rotate", [202]);
    expect((await does("stats", [200]))["clusters"]).toBeGreaterThanOrEqual(1);
  });

  it(
    "a cluster: rotation of its authority, after which only the new one is there",
    { timeout: 10 * MINUTE },
    async () => {
      const before = String((await does("certificate: show", [200]))["pem"]);
      await does("certificate: rotate", [202]);
      expect(await shown()).toMatchObject({ status: "UPDATE_IN_PROGRESS" });
      await eventually(9 * MINUTE, async () => (await shown())["status"] === "UPDATE_COMPLETE");
      const after = String((await does("certificate: show", [200]))["pem"]);
      expect(after.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
      expect(after.trim()).not.toBe(before.trim());
      expect((await does("certificate: sign", [201]))["pem"]).toContain("BEGIN CERTIFICATE");
    },
  );

  it("quotas: create, list, show, update and delete, by the administrator", async () => {
    expect(await does("quota: create", [201], "simulator-admin")).toMatchObject({ hard_limit: 5 });
    expect((await does("quota: list", [200], "simulator-admin"))["quotas"]).toHaveLength(1);
    expect(await does("quota: show", [200], "simulator-admin")).toMatchObject({ hard_limit: 5 });
    expect(await does("quota: update", [202], "simulator-admin")).toMatchObject({ hard_limit: 6 });
    await does("quota: delete", [204], "simulator-admin");
    await does("quota: create", [403]);
  });

  it("the cluster is deleted, and then its template", async () => {
    await does("cluster: delete", [204]);
    const show: Recorded = { method: "GET", path: "/v1/clusters/{cluster}", version: "container-infra 1.13" };
    await eventually(4 * MINUTE, async () => (await send(show, "simulator")).status === 404);
    ids.set("template", ids.get("other") ?? "");
    await does("template: delete", [204]);
  });

  it("no request of the recording was left out", () => {
    expect(table.map(({ name }) => name).filter((name) => !sent.has(name))).toEqual([]);
  });
});
