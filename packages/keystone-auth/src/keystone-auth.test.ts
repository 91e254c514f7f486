import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createAuthority, systemClock } from "@causeway/foundation";
import {
  ConfigMap,
  createClient,
  loadKubeconfig,
  Namespace,
  RoleBinding,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { connectCloud, issueToken } from "@causeway/openstack";
import { readSettings, type Flags } from "./settings/settings.ts";
import { PROJECT_LABEL } from "./sync/plan.ts";
import { World } from "./testing/world.ts";
import { PROJECT_ID, PROJECT_NAME, ROLES } from "./user.ts";
import { record, text, texts, type Json } from "./values.ts";

vi.setConfig({ testTimeout: 120_000 });

const POLICY = JSON.stringify([
  { users: { projects: ["demo"], roles: ["member"] }, resource_permissions: { "*/pods": ["get", "list"] } },
]);

const FLAGS: Flags = { keystoneUrl: "https://k", tlsCertFile: "c", tlsPrivateKeyFile: "k" };

describe("the Keystone webhook", () => {
  let world: World;
  beforeEach(async () => {
    world = await World.start();
  });
  afterEach(async () => {
    await world.close();
  });

  it.each(["v1", "v1beta1"])("reviews tokens and access at %s", async (version) => {
    await world.run({ keystonePolicyFile: world.write("policy.json", POLICY) });
    const status = await world.token(await world.issue(), version);
    expect(status["authenticated"]).toBe(true);
    const user = record(status["user"]);
    const extra = record(user["extra"]);
    const [projectId] = texts(extra[PROJECT_ID]);
    expect(text(user["username"])).toBe("demo");
    expect(texts(user["groups"])).toContain(projectId);
    expect(extra[PROJECT_NAME]).toEqual(["demo"]);
    expect(texts(extra[ROLES])).toContain("member");
    expect(await world.access(user, { verb: "get", resource: "pods", namespace: "default" }, version)).toBe(true);
    expect(await world.access(user, { verb: "create", resource: "pods", namespace: "default" }, version)).toBe(false);
    const of = record((await world.token(await world.issue("simulator-alt"), version))["user"]);
    expect(await world.access(of, { verb: "get", resource: "pods", namespace: "default" }, version)).toBe(false);
  });

  it("opens nothing to a project and user of the same names in another domain, where a rule names the domain", async () => {
    const pods = { verb: "get", resource: "pods", namespace: "default" };
    const rule = { users: { projects: ["demo"], roles: ["member"] }, resource_permissions: { "*/pods": ["get"] } };
    const path = world.write("policy.json", JSON.stringify([rule]));
    await world.run({ keystonePolicyFile: path });
    const own = record((await world.token(await world.issue()))["user"]);
    const foreign = record((await world.token(await world.issueOfAnotherDomain()))["user"]);
    expect([text(own["username"]), text(foreign["username"])]).toEqual(["demo", "demo"]);
    // As upstream decides, with a warning.
    expect([await world.access(own, pods), await world.access(foreign, pods)]).toEqual([true, true]);
    expect(world.lines.join("")).toContain("are those of every domain");
    world.write("policy.json", JSON.stringify([{ ...rule, users: { ...rule.users, domains: ["Default"] } }]));
    await world.clock.advance(6_000);
    expect([await world.access(own, pods), await world.access(foreign, pods)]).toEqual([true, false]);
  });

  it("refuses users of other domains and projects with --allowed-domains and --allowed-projects", async () => {
    const cloud = connectCloud(world.config());
    const allowedProjects = [await cloud.projectId()];
    await cloud.close();
    const foreign = await world.issueOfAnotherDomain();
    await world.run({ allowedProjects, allowedDomains: ["Default"] });
    expect((await world.token(await world.issue()))["authenticated"]).toBe(true);
    const refusal = { authenticated: false, error: expect.stringContaining("has no access to this cluster") };
    expect(await world.token(foreign)).toEqual(refusal);
    expect(await world.token(await world.issue("simulator-alt"))).toEqual(refusal);
    const before = world.keystoneCalls();
    expect(await world.token(foreign)).toEqual(refusal);
    expect(world.keystoneCalls()).toBe(before);
    expect(() => readSettings({ ...FLAGS, allowedProjects: [""] }, {})).toThrow("--allowed-projects has an empty name");
  });

  it("refuses tokens that are garbage, forged, revoked, unscoped or another issuer's", async () => {
    await world.run({ tokenRecheck: "30s" });
    const token = await world.issue();
    const { scope: _, ...unscoped } = world.config();
    const bare = await issueToken({ ...unscoped, scope: {} });
    const forged = `${token.slice(0, -4)}${token.endsWith("AAAA") ? "BBBB" : "AAAA"}`;
    const jwt = `aGVhZGVy.${Buffer.from('{"iss":"https://kubernetes.default.svc"}').toString("base64url")}.c2lnbg`;
    const before = world.keystoneCalls();
    for (const bad of ["x", "not a token, sorry", jwt]) expect((await world.token(bad))["authenticated"]).toBe(false);
    expect(world.keystoneCalls()).toBe(before);
    expect(await world.token(forged)).toEqual({
      authenticated: false,
      error: expect.stringContaining("does not accept"),
    });
    if (bare.projectId === undefined)
      expect(await world.token(bare.token)).toEqual({
        authenticated: false,
        error: expect.stringContaining("no project"),
      });
    expect((await world.token(token))["authenticated"]).toBe(true);
    const cloud = connectCloud(world.config("simulator-admin"));
    await cloud.identity.revokeToken(token);
    await cloud.close();
    await world.clock.advance(31_000);
    expect(await world.token(token)).toEqual({ authenticated: false, error: expect.stringContaining("revoked") });
  });

  it("refuses a token when it has expired", async () => {
    await world.run({ tokenRecheck: "1000h", keystoneOutage: "1000h" });
    const token = await world.issue();
    expect((await world.token(token))["authenticated"]).toBe(true);
    await world.clock.advance(25 * 3_600_000);
    expect(await world.token(token)).toEqual({ authenticated: false, error: "the token has expired" });
  });

  it("keeps cached tokens valid while Keystone is away, and denies new ones with the reason", async () => {
    await world.run({ tokenRecheck: "10s", keystoneOutage: "60s" });
    const [known, fresh] = [await world.issue(), await world.issue()];
    await world.token(known);
    world.simulator.setFaults(() => ({ when: "before", status: 503 }));
    await world.clock.advance(20_000);
    const during = async (token: string): Promise<Json> => {
      const answer = world.token(token);
      const timer = setInterval(() => void world.clock.advance(1_000), 5);
      return answer.finally(() => clearInterval(timer));
    };
    expect((await during(known))["authenticated"]).toBe(true);
    expect(await during(fresh)).toEqual({
      authenticated: false,
      error: expect.stringContaining("Keystone cannot be queried"),
    });
    await world.clock.advance(60_000);
    expect((await during(known))["authenticated"]).toBe(false);
    world.simulator.setFaults(undefined);
    expect((await during(fresh))["authenticated"]).toBe(true);
  });

  it("sends two requests to Keystone for 1,000 reviews of one token", async () => {
    await world.run({});
    const token = await world.issue();
    const before = world.keystoneCalls();
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 100 }, () => world.token(token)));
    expect(world.keystoneCalls() - before).toBe(2);
  });

  it("serves metrics of its requests to Keystone and of its tokens", async () => {
    await world.run({});
    const token = await world.issue();
    for (let i = 0; i < 3; i++) await world.token(token);
    await world.token("garbage");
    const metrics = JSON.stringify((await world.post("", "/metrics", "GET")).body);
    expect(metrics).toMatch(/openstack_api_requests_total\{request=[^}]*\} 1/);
    expect(metrics).toContain("openstack_api_request_duration_seconds_count");
    expect(metrics).toMatch(/causeway_keystone_auth_tokens_total\{result=[^}]*\} 2/);
    expect(metrics).not.toContain(token);
  });

  it("responds to what is no review without failing", async () => {
    await world.run({});
    const token = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" };
    const access = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" };
    const wrong: readonly [unknown, number][] = [
      ["", 400],
      ["null", 400],
      ["[".repeat(100_000), 400],
      [{}, 400],
      [{ ...token, apiVersion: "authentication.k8s.io/v2" }, 400],
      [token, 400],
      [{ ...token, spec: { token: 5 } }, 400],
      [access, 400],
      [{ ...access, spec: { user: 1, groups: {}, extra: [], resourceAttributes: {} } }, 200],
      ["x".repeat(2 * 1024 * 1024), 413],
    ];
    for (const [body, status] of wrong) expect((await world.post(body)).status).toBe(status);
    expect((await world.post("", "/webhook", "GET")).status).toBe(405);
    expect((await world.post("", "/elsewhere")).status).toBe(404);
    expect((await world.post("", "/healthz", "GET")).status).toBe(200);
    expect(JSON.stringify((await world.post("", "/metrics", "GET")).body)).toContain(
      "causeway_keystone_auth_request_duration_seconds",
    );
  });

  it("uses a changed policy file, refuses an erroneous one with a clear message, and keeps the last good one", async () => {
    const path = world.write("policy.json", POLICY);
    await world.run({ keystonePolicyFile: path });
    const user = record((await world.token(await world.issue()))["user"]);
    const attributes = { verb: "delete", resource: "pods", namespace: "default" };
    expect(await world.access(user, attributes)).toBe(false);
    world.write("policy.json", POLICY.replace('"get"', '"delete"'));
    await world.clock.advance(6_000);
    expect(await world.access(user, attributes)).toBe(true);
    world.write("policy.json", POLICY.replace('"get"', '["delete"]'));
    await world.clock.advance(6_000);
    expect(await world.access(user, attributes)).toBe(true);
    expect(world.lines.join("")).toContain(
      "the new authorization policy is refused; the last valid one remains in use",
    );
  });

  it("does not start with an erroneous policy, without one that can be read, or without a certificate", async () => {
    await expect(world.run({ keystonePolicyFile: world.write("policy.json", "{}") })).rejects.toMatchObject({
      code: "KEYSTONE_POLICY_INVALID",
    });
    await expect(world.run({ keystonePolicyFile: "/nowhere" })).rejects.toMatchObject({
      code: "KEYSTONE_AUTH_FILE_UNREADABLE",
    });
    await expect(
      world.run({ syncConfigFile: world.write("sync.yaml", "namespace-format: '%n'") }),
    ).rejects.toMatchObject({ code: "KEYSTONE_SYNC_INVALID" });
    await expect(world.run({ tlsCertFile: "/nowhere" })).rejects.toMatchObject({ code: "KEYSTONE_AUTH_CERTIFICATE" });
  });

  it("does not start with a certificate, key or authority that is damaged, or a key of another certificate", async () => {
    const other = await createAuthority({ commonName: "other", lifetime: 86_400_000 });
    const damaged = world.write("damaged.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    const foreign = world.write("other.key", other.key);
    const text = world.write("text.pem", "no PEM at all");
    const wrong: readonly [Flags, string][] = [
      [{ tlsCertFile: damaged }, damaged],
      [{ tlsCertFile: text }, text],
      [{ tlsPrivateKeyFile: text }, text],
      [{ tlsPrivateKeyFile: foreign }, foreign],
      [{ clientCaFile: text }, text],
      [{ clientCaFile: damaged }, damaged],
    ];
    for (const [flags, file] of wrong)
      await expect(world.run(flags)).rejects.toMatchObject({
        code: "KEYSTONE_AUTH_CERTIFICATE",
        exitStatus: 2,
        message: expect.stringContaining(file),
        hint: expect.stringContaining("--"),
      });
  });
});

describe("the address of Keystone", () => {
  it.each(["ftp://k/v3", "file:///k", "k:5000", "nothing", "https://anna:secret@k/v3", "https://anna@k/v3"])(
    "%s is refused at the start",
    (keystoneUrl) => {
      const read = () => readSettings({ ...FLAGS, keystoneUrl }, {});
      expect(read).toThrow("--keystone-url");
      expect(read).not.toThrow("secret");
    },
  );
});

describe("the Keystone webhook with a cluster", () => {
  let world: World;
  let server: ApiServer;
  let client: KubernetesClient;
  beforeEach(async () => {
    world = await World.start();
    server = await startApiServer({ clock: systemClock });
    client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  });
  afterEach(async () => {
    await world.close();
    await client.close();
    await server.close();
  });

  it("follows the policy in a ConfigMap: a change, an erroneous one, its deletion", async () => {
    const metadata = { name: "auth-policy", namespace: "kube-system" };
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { policies: POLICY } };
    await client.create(ConfigMap, configMap);
    await world.run({ policyConfigmapName: "auth-policy" }, client);
    const user = record((await world.token(await world.issue()))["user"]);
    const may = (verb: string) => world.access(user, { verb, resource: "pods", namespace: "default" });
    expect(await may("get")).toBe(true);
    const change = (policies: string) =>
      client.patch(ConfigMap, metadata, { type: "merge", body: { data: { policies } } });
    await change(POLICY.replace('"get"', '"delete"'));
    await expect.poll(() => may("delete")).toBe(true);
    expect(await may("get")).toBe(false);
    await change("[{]");
    await expect.poll(() => world.lines.join("")).toContain("is refused");
    expect(await may("delete")).toBe(true);
    await client.delete(ConfigMap, metadata);
    await expect.poll(() => may("delete")).toBe(false);
  });

  it("creates the namespace and RoleBindings of a user before the response, and deletes the binding of a lost role", async () => {
    const sync = "data-types-to-sync: [projects, role_assignments]\nnamespace-format: '%n-%i'\n";
    await world.run({ syncConfigFile: world.write("sync.yaml", sync), tokenRecheck: "1s" }, client);
    const user = record((await world.token(await world.issue()))["user"]);
    const [projectId = ""] = texts(record(user["extra"])[PROJECT_ID]);
    const name = `demo-${projectId}`;
    const namespace = await client.get(Namespace, { namespace: "", name });
    expect(namespace.metadata.labels?.[PROJECT_LABEL]).toBe(projectId);
    const names = async () => (await client.list(RoleBinding, { namespace: name })).items.map((b) => b.roleRef.name);
    expect((await names()).toSorted()).toEqual([...texts(record(user["extra"])[ROLES])].toSorted());
    const metadata = { name: `${text(user["uid"])}_lost`, namespace: name };
    const apiGroup = "rbac.authorization.k8s.io";
    const subjects = [{ apiGroup, kind: "User" as const, name: "demo" }];
    const roleRef = { apiGroup, kind: "ClusterRole" as const, name: "lost" };
    const own = { apiVersion: `${apiGroup}/v1`, kind: "RoleBinding", metadata, subjects, roleRef };
    await client.create(RoleBinding, own);
    await client.create(RoleBinding, { ...own, metadata: { name: "of-an-administrator", namespace: name } });
    await world.clock.advance(61_000);
    await world.token(await world.issue());
    expect((await client.list(RoleBinding, { namespace: name })).items.map((b) => b.metadata.name)).not.toContain(
      metadata.name,
    );
    expect(await names()).toContain("lost");
  });

  it("never takes over a namespace that it did not make", async () => {
    await world.run(
      {
        syncConfigFile: world.write(
          "sync.yaml",
          "data-types-to-sync: [projects, role_assignments]\nnamespace-format: 'team-%i'",
        ),
      },
      client,
    );
    const cloud = connectCloud(world.config());
    const name = `team-${await cloud.projectId()}`;
    await cloud.close();
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    expect((await world.token(await world.issue()))["authenticated"]).toBe(true);
    expect((await client.list(RoleBinding, { namespace: name })).items).toEqual([]);
    expect((await client.get(Namespace, { namespace: "", name })).metadata.labels?.[PROJECT_LABEL]).toBeUndefined();
    expect(world.lines.join("")).toContain("it is left as it is");
  });
});
