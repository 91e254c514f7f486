import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { HostedControlPlane, MagnumCluster } from "@causeway/api";
import { createAuthority, createRequest, readCertificate, verifyChain } from "@causeway/foundation";
import { Secret, type KubernetesClient } from "@causeway/kubernetes";
import { issueToken, loadCloudsYaml } from "@causeway/openstack";
import type { Simulator } from "@causeway/simulator";
import { openStage, type Json, type Reply, type Stage } from "./testing/stage.ts";

// Of "openssl req -new -newkey ec … -addext basicConstraints=critical,CA:TRUE".
const AUTHORITY_REQUEST = `-----BEGIN CERTIFICATE REQUEST-----
MIIBBjCBrQIBADApMRcwFQYDVQQKDA5zeXN0ZW06bWFzdGVyczEOMAwGA1UEAwwF
YWRtaW4wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQP2fLoOnUXjZ5nz1/fB5gf
/QLeoy7RIZRoskqOkFPWk7Y+sNO8vLC4fTojTfIErk8vZFn37tZWmKbokMuRiSKq
oCIwIAYJKoZIhvcNAQkOMRMwETAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMC
A0gAMEUCIG9Fm8QGDs2E7rtroYee/x6lUSEFg8Sg1XqcclhplXrTAiEAxMC3uS8s
GEnzOCySoCwIacI1kSJEDK7xa3Y2fLHnlIc=
-----END CERTIFICATE REQUEST-----`;

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

const textIn = (body: Json, name: string): string => String(body[name] as string);
const listIn = (body: Json, name: string) => body[name] as readonly Json[];
/** The words of a refusal. */
const detailOf = ({ body }: Reply): string => textIn(listIn(body, "errors")[0] ?? {}, "detail");

let stage: Stage;
let client: KubernetesClient;
let simulator: Simulator;

beforeAll(async () => {
  stage = await openStage();
  ({ client, simulator } = stage);
});
afterAll(() => stage.close());

type Call = readonly [who: string, method: string, path: string, body?: unknown];
const call = (...[who, method, path, body]: Call): Promise<Reply> => stage.call(who, method, path, { body });

const template = {
  name: "small",
  coe: "kubernetes",
  image_id: "cirros",
  flavor_id: "m1.small",
  external_network_id: "public",
};

async function newTemplate(more: object = {}): Promise<string> {
  const { status, body } = await call("demo", "POST", "/v1/clustertemplates", {
    ...template,
    ...more,
  });
  expect(status).toBe(201);
  return textIn(body, "uuid");
}

async function newCluster(more: object = {}): Promise<string> {
  const { status, body } = await call("demo", "POST", "/v1/clusters", {
    cluster_template_id: await newTemplate(),
    ...more,
  });
  expect([status, body]).toEqual([202, { uuid: expect.any(String) }]);
  return textIn(body, "uuid");
}

describe("versions and routing", () => {
  it("serves its documents and health without a token", async () => {
    for (const path of ["/", "/v1", "/v1/", "/healthcheck"])
      expect((await call("", "GET", path)).status, path).toBe(200);
    expect((await call("", "GET", "/v1")).headers.get("openstack-api-maximum-version")).toBe(
      "container-infrastructure-management 1.14",
    );
  });

  it.each<[string, string, string, number, string?]>([
    ["", "GET", "/v1/clusters", 401],
    ["demo", "GET", "/v1/bogus", 404],
    ["demo", "PUT", "/v1/clusters", 405],
    ["demo", "GET", "/v1/clusters", 406, "1.15"],
    ["demo", "GET", "/v1/clusters/x/nodegroups", 406, "1.8"],
    ["demo", "PATCH", "/v1/credentials/x", 406, "1.11"],
    ["demo", "GET", "/clusters", 200],
    ["demo", "GET", "/v1/clusters/", 200],
    ["demo", "GET", "/v1/clusters/nope", 404],
    ["demo", "GET", "/v1/mservices", 403],
    ["admin", "GET", "/v1/mservices", 200],
    ["demo", "GET", "/v1/federations", 200],
    ["demo", "GET", "/v1/federations/x", 404],
    ["demo", "GET", "/v1/stats?type=x", 400],
    ["alt", "GET", "/v1/stats?project_id=x", 403],
  ])("%s %s %s is %i", async (who, method, path, status, version) => {
    expect((await stage.call(who, method, path, { version })).status).toBe(status);
  });

  it("refuses bodies that are no JSON, too large or too deep", async () => {
    const post = (body: string) => call("demo", "POST", "/v1/clustertemplates", body);
    expect(detailOf(await post("{nope"))).toBe("Request is not in valid JSON format");
    expect((await post(`"${"x".repeat(300_000)}"`)).status).toBe(413);
    expect((await post("[".repeat(1000))).status).toBe(400);
    expect(detailOf(await post(""))).toBe('Missing argument: "cluster_template"');
  });
});

describe("cluster templates of the Magnum API", () => {
  it("are returned with every attribute, and by name", async () => {
    const uuid = await newTemplate({ name: "by-name", labels: { kube_tag: "v1.34.0" } });
    const { body } = await call("demo", "GET", "/v1/clustertemplates/by-name");
    expect(body).toMatchObject({
      uuid,
      coe: "kubernetes",
      keypair_id: null,
      labels: { kube_tag: "v1.34.0" },
      public: false,
      floating_ip_enabled: true,
    });
    expect(body["created_at"]).toMatch(/\+00:00$/);
  });

  it("are seen by their project, and by others when they are public", async () => {
    const uuid = await newTemplate();
    expect((await call("alt", "GET", `/v1/clustertemplates/${uuid}`)).status).toBe(404);
    expect((await call("reader", "GET", `/v1/clustertemplates/${uuid}`)).status).toBe(200);
    expect((await call("reader", "PATCH", `/v1/clustertemplates/${uuid}`, [])).status).toBe(403);
    const publish = [{ op: "replace", path: "/public", value: "true" }];
    expect((await call("demo", "PATCH", `/v1/clustertemplates/${uuid}`, publish)).status).toBe(403);
    expect((await call("admin", "PATCH", `/v1/clustertemplates/${uuid}`, publish)).status).toBe(200);
    expect((await call("alt", "GET", `/v1/clustertemplates/${uuid}`)).status).toBe(200);
    expect((await call("alt", "DELETE", `/v1/clustertemplates/${uuid}`)).status).toBe(403);
  });

  it("that share a name have to be named by id, and a deleted one is gone at once", async () => {
    const [one, other] = [await newTemplate({ name: "twin" }), await newTemplate({ name: "twin" })];
    expect((await call("demo", "GET", "/v1/clustertemplates/twin")).status).toBe(409);
    expect((await call("demo", "DELETE", `/v1/clustertemplates/${one}`)).status).toBe(204);
    expect((await call("demo", "GET", "/v1/clustertemplates/twin")).body["uuid"]).toBe(other);
    expect((await call("demo", "GET", `/v1/clustertemplates/${one}`)).status).toBe(404);
  });

  it("are listed in pages in the order of creation", async () => {
    const made = [await newTemplate(), await newTemplate(), await newTemplate()];
    const seen: string[] = [];
    let path = "/v1/clustertemplates?limit=2";
    for (;;) {
      const { body } = await call("demo", "GET", path);
      seen.push(...listIn(body, "clustertemplates").map((one) => textIn(one, "uuid")));
      if (body["next"] === undefined) break;
      const next = new URL(textIn(body, "next"));
      path = next.pathname + next.search;
    }
    expect(seen.filter((uuid) => made.includes(uuid))).toEqual(made);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe("clusters of the Magnum API", () => {
  it("cannot be made from a template without TLS, which may be kept", async () => {
    const template = await newTemplate({ tls_disabled: true });
    const { status, body } = await call("demo", "POST", "/v1/clusters", {
      name: "plain",
      cluster_template_id: template,
    });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("tls_disabled=True");
    const uuid = await newCluster();
    const path = `/v1/clusters/${uuid}/actions/upgrade`;
    expect((await call("demo", "POST", path, { cluster_template: template })).status).toBe(400);
  });

  it("are there before the response, in progress, and belong to their project", async () => {
    const uuid = await newCluster({ name: "row", node_count: 2 });
    const { status, body } = await call("demo", "GET", `/v1/clusters/${uuid}`);
    expect([status, body["status"], body["node_count"]]).toEqual([200, "CREATE_IN_PROGRESS", 2]);
    expect(body).toHaveProperty("cluster_id");
    expect(body).not.toHaveProperty("stack_id");
    const old = await stage.call("demo", "GET", `/v1/clusters/${uuid}`, { version: "1.1" });
    expect(old.body).toHaveProperty("stack_id");
    expect(old.body).not.toHaveProperty("cluster_id");
    expect((await call("alt", "GET", `/v1/clusters/${uuid}`)).status).toBe(404);
    expect((await call("admin", "GET", `/v1/clusters/${uuid}`)).status).toBe(200);
    expect((await call("reader", "DELETE", `/v1/clusters/${uuid}`)).status).toBe(403);
    const { items } = await client.list(Secret, {
      labelSelector: `magnum.causeway.dev/uuid=${uuid}`,
    });
    expect(items.map(({ metadata }) => metadata.name)).toEqual([expect.stringMatching(/^row-.*-cloud-config$/)]);
  });

  it("keep their template in use", async () => {
    const { body } = await call("demo", "GET", `/v1/clusters/${await newCluster()}`);
    const path = `/v1/clustertemplates/${textIn(body, "cluster_template_id")}`;
    expect((await call("demo", "DELETE", path)).status).toBe(400);
    expect((await call("demo", "PATCH", path, [{ op: "replace", path: "/image_id", value: "other" }])).status).toBe(
      400,
    );
    expect((await call("demo", "PATCH", path, [{ op: "replace", path: "/name", value: "renamed" }])).status).toBe(200);
  });

  it("take what Horizon sends: each value as text, and empty ones", async () => {
    const uuid = await newCluster({
      name: "horizon",
      keypair: "",
      node_count: "3",
      master_count: "1",
      labels: "",
      flavor_id: "",
      discovery_url: null,
      create_timeout: "60",
    });
    expect((await call("demo", "GET", `/v1/clusters/${uuid}`)).body).toMatchObject({
      node_count: 3,
      keypair: null,
      flavor_id: "m1.small",
    });
  });

  it.each<[object, number, string]>([
    [{ node_count: 0 }, 202, "latest"],
    [{ node_count: 0 }, 400, "1.9"],
    [{ master_count: 3 }, 400, "latest"],
    [{ master_count: 3, master_lb_enabled: true }, 202, "latest"],
    [{ master_count: 2, master_lb_enabled: true }, 400, "latest"],
    [{ master_count: 11, master_lb_enabled: true }, 400, "latest"],
    [{ fixed_subnet: "public" }, 400, "latest"],
    [{ name: "1st" }, 400, "latest"],
    [{ labels: { kubeapi_options: "--x" } }, 400, "latest"],
    [{ labels: { kube_tag: "v1.20.0" } }, 400, "latest"],
    [{ labels: { kube_tag: "", fixed_subnet_cidr: "" } }, 202, "latest"],
    [{ labels: { service_cluster_ip_range: "10.254.0.0/31" } }, 400, "latest"],
    [{ labels: { fixed_subnet_cidr: "10.100.3.0/24" } }, 400, "latest"],
    [{ cluster_template_id: "nope" }, 404, "latest"],
    [{ cluster_template_id: "nope" }, 400, "1.9"],
  ])("%j is %i at %s", async (more, status, version) => {
    const uuid = await newTemplate();
    expect(
      (
        await stage.call("demo", "POST", "/v1/clusters", {
          body: { cluster_template_id: uuid, ...more },
          version,
        })
      ).status,
    ).toBe(status);
  });

  it("are limited by the quota of the project, at once for requests at the same time", async () => {
    const { body } = await call("admin", "GET", "/v1/clusters");
    const own = Number((await call("demo", "GET", "/v1/stats")).body["clusters"]);
    const [first = {}] = listIn(body, "clusters");
    const project = textIn((await call("demo", "GET", `/v1/clusters/${textIn(first, "uuid")}`)).body, "project_id");
    expect(
      (
        await call("admin", "POST", "/v1/quotas", {
          project_id: project,
          resource: "Cluster",
          hard_limit: own + 1,
        })
      ).status,
    ).toBe(201);
    expect(
      (
        await call("admin", "POST", "/v1/quotas", {
          project_id: project,
          resource: "Cluster",
          hard_limit: 9,
        })
      ).status,
    ).toBe(409);
    const uuid = await newTemplate();
    const answers = await Promise.all(
      [1, 2, 3].map(() => call("demo", "POST", "/v1/clusters", { cluster_template_id: uuid })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 403, 403]);
    // A deletion makes room, once the cluster is gone.
    const made = textIn(answers.find(({ status }) => status === 202)?.body ?? {}, "uuid");
    expect((await call("demo", "DELETE", `/v1/clusters/${made}`)).status).toBe(204);
    await expect.poll(async () => (await call("demo", "GET", `/v1/clusters/${made}`)).status).toBe(404);
    expect((await call("demo", "POST", "/v1/clusters", { cluster_template_id: uuid })).status).toBe(202);
    expect((await call("demo", "POST", "/v1/clusters", { cluster_template_id: uuid })).status).toBe(403);
    expect(
      (await call("admin", "PATCH", `/v1/quotas/${project}/Cluster`, { hard_limit: 100 })).body["hard_limit"],
    ).toBe(100);
    expect((await call("admin", "DELETE", `/v1/quotas/${project}/Cluster`)).status).toBe(204);
    expect((await call("demo", "GET", `/v1/quotas/${project}/Cluster`)).body["hard_limit"]).toBe(20);
  });

  it("refuse what cannot be changed, and a change while another is in progress", async () => {
    const uuid = await newCluster();
    const patch = (...operations: object[]) => call("demo", "PATCH", `/v1/clusters/${uuid}`, operations);
    expect(detailOf(await patch({ op: "replace", path: "/name", value: "x" }))).toContain(
      "cannot change cluster property(ies) name",
    );
    expect(detailOf(await patch({ op: "replace", path: "/node_count", value: 5 }))).toContain(
      "already has an operation in progress",
    );
    expect((await call("demo", "POST", `/v1/clusters/${uuid}/actions/resize`, {})).status).toBe(400);
    const rotation = await call("demo", "PATCH", `/v1/certificates/${uuid}`);
    expect([rotation.status, detailOf(rotation)]).toEqual([
      400,
      'Updating a cluster when status is "CREATE_IN_PROGRESS" is not supported.',
    ]);
    expect((await call("demo", "POST", `/v1/clusters/${uuid}/nodegroups`, { name: "g" })).status).toBe(409);
    const health = [
      { op: "replace", path: "/health_status_reason", value: "{'api': 'ok'}" },
      { op: "replace", path: "/health_status", value: "HEALTHY" },
    ];
    expect((await patch(...health)).status).toBe(202);
    expect((await call("demo", "GET", `/v1/clusters/${uuid}`)).body).toMatchObject({
      health_status: "HEALTHY",
      health_status_reason: { api: "ok" },
    });
  });

  it("sign certificates by their own authority, for clients and never as an authority", async () => {
    const uuid = await newCluster({ name: "signed" });
    const { items } = await client.list(MagnumCluster, {
      labelSelector: `magnum.causeway.dev/uuid=${uuid}`,
    });
    const { namespace = "", name = "" } = items[0]?.metadata ?? {};
    expect((await call("demo", "GET", `/v1/certificates/${uuid}`)).status).toBe(404);
    const authority = await createAuthority({ commonName: "kubernetes", lifetime: 86_400_000 });
    const encode = (text: string) => Buffer.from(text).toString("base64");
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `${name}-ca`, namespace },
      data: { "tls.crt": encode(authority.certificate), "tls.key": encode(authority.key) },
    });
    expect((await call("reader", "GET", `/v1/certificates/${uuid}`)).body["pem"]).toBe(authority.certificate);
    const { request } = await createRequest({
      commonName: "admin",
      organizations: ["system:masters"],
    });
    const signed = await call("demo", "POST", "/v1/certificates", {
      cluster_uuid: uuid,
      csr: request,
    });
    expect(signed.status).toBe(201);
    expect(verifyChain(textIn(signed.body, "pem"), authority.certificate)).toBe(true);
    expect(readCertificate(textIn(signed.body, "pem"))).toMatchObject({
      commonName: "admin",
      organizations: ["system:masters"],
      isAuthority: false,
    });
    expect((await call("reader", "POST", "/v1/certificates", { cluster_uuid: uuid, csr: request })).status).toBe(403);
    expect((await call("demo", "POST", "/v1/certificates", { cluster_uuid: uuid, csr: "nope" })).status).toBe(400);
    const refused = await call("demo", "POST", "/v1/certificates", { cluster_uuid: uuid, csr: AUTHORITY_REQUEST });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain("it asks for a certificate authority");
  });

  it("have a control plane and a credential, and leave neither behind", async () => {
    const uuid = await newCluster({ name: "gone" });
    await expect
      .poll(
        async () =>
          (
            await client.list(HostedControlPlane, {
              labelSelector: `magnum.causeway.dev/uuid=${uuid}`,
            })
          ).items.length,
        { timeout: 30_000 },
      )
      .toBe(1);
    const before = simulator.calls.length;
    expect((await call("demo", "DELETE", `/v1/clusters/${uuid}`)).status).toBe(204);
    await expect
      .poll(async () => (await call("demo", "GET", `/v1/clusters/${uuid}`)).status, {
        timeout: 30_000,
      })
      .toBe(404);
    await expect
      .poll(
        async () =>
          (
            await client.list(HostedControlPlane, {
              labelSelector: `magnum.causeway.dev/uuid=${uuid}`,
            })
          ).items.length,
        { timeout: 30_000 },
      )
      .toBe(0);
    const revoked = simulator.calls
      .slice(before)
      .filter(({ method, path }) => method === "DELETE" && path.includes("application_credentials"));
    expect(revoked).toHaveLength(1);
  });
});

describe("tokens at the Magnum API", () => {
  it("are checked once, and refused after they were revoked", async () => {
    const cloud = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
    const { token } = await issueToken(cloud);
    stage.tokens.set("short", token);
    const checks = () =>
      simulator.calls.filter(({ method, path }) => method === "GET" && path.includes("/auth/tokens")).length;
    const before = checks();
    await Promise.all([1, 2, 3, 4].map(() => call("short", "GET", "/v1/clusters")));
    expect(checks()).toBeLessThan(before + 4);
    const response = await fetch(`${simulator.authUrl}/auth/tokens`, {
      method: "DELETE",
      headers: { "x-auth-token": token, "x-subject-token": token },
    });
    expect(response.status).toBe(204);
    await expect.poll(async () => (await call("short", "GET", "/v1/clusters")).status, { timeout: 10_000 }).toBe(401);
  });
});
