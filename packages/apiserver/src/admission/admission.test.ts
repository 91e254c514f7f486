import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import type { ApiServer } from "../interface.ts";
import { at, record, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { rawClient, type Raw } from "../testing/client.ts";

const HOUR = 3_600_000;
const MAPS = "/api/v1/namespaces/default/configmaps";
const GROUP = "/apis/admissionregistration.k8s.io/v1";
const RULES = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] }];

let hooks: Server;
let clientConfig: Json;
let respond: (request: Json) => Promise<Json> | Json = () => ({ allowed: true });
let seen: Json[] = [];
let server: ApiServer;
let admin: Raw;

beforeAll(async () => {
  const authority = await createAuthority({ commonName: "hooks", lifetime: HOUR });
  const subject = { commonName: "hook", ipAddresses: ["127.0.0.1"], lifetime: HOUR };
  const { certificate, key } = await issueCertificate(authority, { ...subject, usages: ["server"] });
  hooks = createServer({ cert: certificate, key }, (asked, answer) => {
    let body = "";
    asked.on("data", (chunk: Buffer) => (body += chunk.toString()));
    asked.on("end", () => {
      const { kind, apiVersion, request } = JSON.parse(body) as Json;
      seen.push(record(request));
      void Promise.resolve(respond(record(request))).then((response) =>
        answer.end(JSON.stringify({ kind, apiVersion, response: { uid: record(request)["uid"], ...response } })),
      );
    });
  });
  await new Promise<void>((done) => hooks.listen(0, "127.0.0.1", done));
  const url = `https://127.0.0.1:${(hooks.address() as AddressInfo).port}/`;
  clientConfig = { url, caBundle: Buffer.from(authority.certificate).toString("base64") };
});
afterAll(async () => {
  hooks.closeAllConnections();
  await new Promise((done) => hooks.close(done));
});
beforeEach(async () => {
  respond = () => ({ allowed: true });
  seen = [];
  server = await startApiServer();
  admin = await rawClient(server.management);
});
afterEach(async () => {
  admin.close();
  await server.close();
});

async function configure(client: Raw, kind: string, more: Json = {}): Promise<void> {
  const hook = {
    name: "a.example.com",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    rules: RULES,
    clientConfig,
  };
  const body = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name: "a" },
    webhooks: [{ ...hook, ...more }],
  };
  const { code } = await client.call("POST", `${GROUP}/${kind.toLowerCase()}s`, body);
  expect(code).toBe(201);
}

const map = (name: string, data: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

test("webhooks of one logical cluster do not hear of another", async () => {
  const other = await rawClient(await server.ensureCluster("other"));
  respond = () => ({ allowed: false });
  await configure(admin, "ValidatingWebhookConfiguration");
  expect((await admin.call("POST", MAPS, map("a"))).code).toBe(400);
  expect((await other.call("POST", MAPS, map("a"))).code).toBe(201);
  expect(seen).toHaveLength(1);
  other.close();
});

test("a cluster that may not call out fails by its failure policy without a call", async () => {
  const tenant = await rawClient(await server.ensureCluster("tenant"));
  await configure(tenant, "MutatingWebhookConfiguration");
  const refused = await tenant.call("POST", MAPS, map("a"));
  expect([refused.code, refused.body["message"]]).toEqual([
    500,
    expect.stringMatching(/this cluster may not call webhooks$/),
  ]);
  await tenant.call("DELETE", `${GROUP}/mutatingwebhookconfigurations/a`);
  await configure(tenant, "ValidatingWebhookConfiguration", { failurePolicy: "Ignore" });
  expect((await tenant.call("POST", MAPS, map("b"))).code).toBe(201);
  expect(seen).toEqual([]);
  tenant.close();
});

test("a cluster that may call out asks its webhook", async () => {
  const trusted = await rawClient(await server.ensureCluster("trusted", { webhooks: true }));
  await configure(trusted, "ValidatingWebhookConfiguration");
  expect((await trusted.call("POST", MAPS, map("a"))).code).toBe(201);
  expect(seen).toHaveLength(1);
  trusted.close();
});

test("a change of an object while a webhook is called is neither lost nor let past it", async () => {
  await admin.call("POST", MAPS, map("a", { count: "0" }));
  await configure(admin, "ValidatingWebhookConfiguration");
  let raced = false;
  respond = async (request) => {
    if (!raced && at(request, "object", "data", "mine") === "1") {
      raced = true;
      const between = { "content-type": "application/merge-patch+json" };
      await admin.call("PATCH", `${MAPS}/a`, { data: { theirs: "1" } }, between);
    }
    return { allowed: true };
  };
  const headers = { "content-type": "application/merge-patch+json" };
  const { code, body } = await admin.call("PATCH", `${MAPS}/a`, { data: { mine: "1" } }, headers);
  expect([code, body["data"]]).toEqual([200, { count: "0", theirs: "1", mine: "1" }]);
  expect(seen.map((r) => record(at(r, "object", "data")))).toEqual([
    { count: "0", mine: "1" },
    { count: "0", theirs: "1" },
    { count: "0", theirs: "1", mine: "1" },
  ]);
});

test("a configuration holds from its commit on, and no longer than it is there", async () => {
  respond = () => ({ allowed: false });
  expect((await admin.call("POST", MAPS, map("before"))).code).toBe(201);
  await configure(admin, "ValidatingWebhookConfiguration");
  expect((await admin.call("POST", MAPS, map("during"))).code).toBe(400);
  await admin.call("DELETE", `${GROUP}/validatingwebhookconfigurations/a`);
  expect((await admin.call("POST", MAPS, map("after"))).code).toBe(201);
});

test("an expression that would run too long ends, and denies", async () => {
  const lists = "[1,2,3,4,5,6,7,8,9,10]";
  const nested = Array.from({ length: 7 }, (_, i) => `${lists}.all(x${i}, `).join("");
  const expression = `${nested}object.metadata.name != '' && x0 + x6 > 0${")".repeat(7)}`;
  const registration = "admissionregistration.k8s.io/v1";
  const spec = { matchConstraints: { resourceRules: RULES }, validations: [{ expression }] };
  const policy = { apiVersion: registration, kind: "ValidatingAdmissionPolicy", metadata: { name: "p" }, spec };
  expect((await admin.call("POST", `${GROUP}/validatingadmissionpolicies`, policy)).code).toBe(201);
  const bound = { policyName: "p", validationActions: ["Deny"] };
  const binding = {
    apiVersion: registration,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "p" },
    spec: bound,
  };
  expect((await admin.call("POST", `${GROUP}/validatingadmissionpolicybindings`, binding)).code).toBe(201);
  const { code, body } = await admin.call("POST", MAPS, map("a"));
  expect([code, body["message"]]).toEqual([422, expect.stringMatching(/cost limit exceeded$/)]);
});
