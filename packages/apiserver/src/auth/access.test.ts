import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRequest, readCertificate, VirtualClock, verifyChain } from "@causeway/foundation";
import type { ApiServer } from "../interface.ts";
import { at, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { eventually, rawClient, type Raw } from "../testing/client.ts";

const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SECRETS = "/api/v1/namespaces/kube-system/secrets";
const clock = new VirtualClock(Date.now());
let server: ApiServer;
let admin: Raw;
const clients: Raw[] = [];

async function as(commonName: string, ...organizations: string[]): Promise<Raw> {
  const client = await rawClient(server.management, { commonName, organizations });
  clients.push(client);
  return client;
}
async function bearing(token: string): Promise<Raw> {
  const client = await rawClient(server.management, { token });
  clients.push(client);
  return client;
}

beforeAll(async () => {
  server = await startApiServer({ clock });
  admin = await rawClient(server.management);
});
afterAll(async () => {
  for (const client of [admin, ...clients]) client.close();
  await server.close();
});

const base64 = (value: string): string => Buffer.from(value).toString("base64");

function bootstrapSecret(id: string, secret: string, lifetime: number): Json {
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "bootstrap.kubernetes.io/token",
    metadata: { name: `bootstrap-token-${id}` },
    stringData: {
      "token-id": id,
      "token-secret": secret,
      expiration: new Date(clock.now() + lifetime).toISOString(),
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    },
  };
}

describe("access by RBAC", () => {
  test("only the named users may, with upstream's message", async () => {
    const jane = await as("jane");
    const refused = await jane.call("GET", "/api/v1/namespaces/default/pods");
    expect(refused.body).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message: 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
    });
    const path = await jane.call("GET", "/metrics");
    expect(path.body["message"]).toBe('forbidden: User "jane" cannot get path "/metrics"');
  });

  test("a binding gives, from its commit on, what its role says", async () => {
    const june = await as("june");
    const meta = (name: string): Json => ({ metadata: { name } });
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }];
    await admin.call("POST", `${RBAC}/namespaces/default/roles`, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      ...meta("pods"),
      rules,
    });
    expect((await june.call("GET", "/api/v1/namespaces/default/pods")).code).toBe(403);
    await admin.call("POST", `${RBAC}/namespaces/default/rolebindings`, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      ...meta("pods"),
      roleRef: { kind: "Role", name: "pods" },
      subjects: [{ kind: "User", name: "june" }],
    });
    expect((await june.call("GET", "/api/v1/namespaces/default/pods")).code).toBe(200);
    expect((await june.call("GET", "/api/v1/namespaces/kube-system/pods")).code).toBe(403);
  });

  test("a user grants no more rights than they have", async () => {
    const meta = (name: string): Json => ({ apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name } });
    const rules = [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["*"], verbs: ["create"] }];
    await admin.call("POST", `${RBAC}/clusterroles`, { ...meta("role-maker"), kind: "ClusterRole", rules });
    const binding = (role: string, user: string): Json => ({
      ...meta(`${role}-${user}`),
      kind: "ClusterRoleBinding",
      roleRef: { kind: "ClusterRole", name: role },
      subjects: [{ kind: "User", name: user }],
    });
    await admin.call("POST", `${RBAC}/clusterrolebindings`, binding("role-maker", "maker"));
    const maker = await as("maker");
    const refused = await maker.call("POST", `${RBAC}/clusterrolebindings`, binding("cluster-admin", "maker"));
    expect(refused.code).toBe(403);
    expect(refused.body["message"]).toContain("is attempting to grant RBAC permissions not currently held");
    expect((await maker.call("POST", `${RBAC}/clusterrolebindings`, binding("role-maker", "other"))).code).toBe(201);
    const greedy = {
      ...meta("greedy"),
      kind: "ClusterRole",
      rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }],
    };
    expect((await maker.call("POST", `${RBAC}/clusterroles`, greedy)).code).toBe(403);
  });

  test("admin has, by aggregation, what edit and view have", async () => {
    const rules = await eventually(async () => {
      const { body } = await admin.call("GET", `${RBAC}/clusterroles/admin`);
      const found = body["rules"] as Json[] | null;
      return found && found.length > 8 ? found : undefined;
    });
    expect(rules).toContainEqual(expect.objectContaining({ resources: ["localsubjectaccessreviews"] }));
  });

  test("a wrong token is 401, and no token is anonymous", async () => {
    const wrong = await bearing("not.a.token");
    expect((await wrong.call("GET", "/api")).body).toMatchObject({ code: 401, reason: "Unauthorized" });
    const anonymous = await rawClient(server.management, { token: "" });
    clients.push(anonymous);
    expect((await anonymous.call("GET", "/version")).code).toBe(200);
    const refused = await anonymous.call("GET", "/api/v1/nodes");
    expect(refused.body["message"]).toContain('User "system:anonymous" cannot list resource "nodes"');
  });

  test("system:masters may act as others, who may not act as them", async () => {
    const seen = await admin.call(
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "SelfSubjectReview",
      },
      { "impersonate-user": "joe", "impersonate-group": "team" },
    );
    expect(at(seen.body, "status", "userInfo")).toEqual({ username: "joe", groups: ["team", "system:authenticated"] });
    const jane = await as("jane");
    const refused = await jane.call("GET", "/version", undefined, { "impersonate-user": "joe" });
    expect(refused.body["message"]).toBe(
      'users "joe" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope',
    );
  });
});

describe("service accounts", () => {
  test("get tokens that represent them until they expire or the account goes", async () => {
    await admin.call("POST", "/api/v1/namespaces/default/serviceaccounts", {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "robot" },
    });
    const made = await admin.call("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 600 },
    });
    expect(made.code).toBe(201);
    const robot = await bearing(String(at(made.body, "status", "token")));
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const who = await robot.call("POST", path, review);
    expect(at(who.body, "status", "userInfo")).toMatchObject({ username: "system:serviceaccount:default:robot" });
    await admin.call("DELETE", "/api/v1/namespaces/default/serviceaccounts/robot");
    expect((await robot.call("POST", path, review)).code).toBe(401);
  });

  test("that are deleted have their watches ended, others continue", async () => {
    const watches: Promise<void>[] = [];
    for (const name of ["leaver", "stayer"]) {
      const path = "/api/v1/namespaces/default/serviceaccounts";
      await admin.call("POST", path, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
      const binding = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: `${name}-views` },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
        subjects: [{ kind: "ServiceAccount", name }],
      };
      await admin.call("POST", `${RBAC}/namespaces/default/rolebindings`, binding);
      const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
      const made = await admin.call("POST", `${path}/${name}/token`, request);
      const account = await bearing(String(at(made.body, "status", "token")));
      const { ended } = await account.open("/api/v1/namespaces/default/configmaps?watch=true");
      watches.push(ended);
    }
    await admin.call("DELETE", "/api/v1/namespaces/default/serviceaccounts/leaver");
    const [leaver, stayer] = watches;
    await leaver;
    const still = new Promise((resolve) => setTimeout(() => resolve("open"), 50));
    expect(await Promise.race([still, stayer])).toBe("open");
  });

  test("are in every namespace, next to the cluster's root certificate", async () => {
    const found = await eventually(async () => {
      const sa = await admin.call("GET", "/api/v1/namespaces/kube-public/serviceaccounts/default");
      const ca = await admin.call("GET", "/api/v1/namespaces/kube-public/configmaps/kube-root-ca.crt");
      return sa.code === 200 && ca.code === 200 ? ca.body : undefined;
    });
    expect(at(found, "data", "ca.crt")).toBe(server.management.authority.certificate);
  });
});

describe("joining with a bootstrap token", () => {
  test("a machine finds cluster-info without being known, signed with its token", async () => {
    await admin.call("POST", SECRETS, bootstrapSecret("abcdef", "0123456789abcdef", 900_000));
    const anonymous = await rawClient(server.management, { token: "" });
    clients.push(anonymous);
    const data = await eventually(async () => {
      const { body } = await anonymous.call("GET", "/api/v1/namespaces/kube-public/configmaps/cluster-info");
      const found = body["data"] as Record<string, string> | undefined;
      return found?.["jws-kubeconfig-abcdef"] ? found : undefined;
    });
    const [header = "", payload, signature] = (data["jws-kubeconfig-abcdef"] ?? "").split(".");
    expect(payload).toBe("");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "HS256", kid: "abcdef" });
    const content = Buffer.from(data["kubeconfig"] ?? "").toString("base64url");
    const expected = createHmac("sha256", "0123456789abcdef").update(`${header}.${content}`).digest("base64url");
    expect(signature).toBe(expected);
    expect(data["kubeconfig"]).toContain(server.management.url);
  });

  test("asks for a kubelet certificate, which is signed once it is approved", async () => {
    await admin.call("POST", SECRETS, bootstrapSecret("joinme", "0123456789abcdef", 900_000));
    const machine = await bearing("joinme.0123456789abcdef");
    const { request } = await createRequest({ commonName: "system:node:worker-1", organizations: ["system:nodes"] });
    const made = await machine.call("POST", CSRS, {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "worker-1" },
      spec: {
        request: base64(request),
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        usages: ["digital signature", "client auth"],
      },
    });
    expect(made.body).toMatchObject({ spec: { username: "system:bootstrap:joinme" }, status: {} });
    expect((await machine.call("PUT", `${CSRS}/worker-1/approval`, made.body)).code).toBe(403);
    const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "" }];
    await admin.call("PUT", `${CSRS}/worker-1/approval`, { ...made.body, status: { conditions } });
    const certificate = await eventually(async () => {
      const { body } = await machine.call("GET", `${CSRS}/worker-1`);
      const found = at(body, "status", "certificate");
      return typeof found === "string" ? Buffer.from(found, "base64").toString() : undefined;
    });
    expect(readCertificate(certificate)).toMatchObject({
      commonName: "system:node:worker-1",
      organizations: ["system:nodes"],
    });
    expect(verifyChain(certificate, server.management.authority.certificate)).toBe(true);
  });

  test("a token reads no Secret, makes no object but a request, and takes no rights", async () => {
    await admin.call("POST", SECRETS, bootstrapSecret("narrow", "0123456789abcdef", 900_000));
    const machine = await bearing("narrow.0123456789abcdef");
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: [{ name: "c" }] } };
    const refused: [string, string, Json?][] = [
      ["GET", SECRETS],
      ["GET", "/api/v1/secrets"],
      ["GET", `${SECRETS}/bootstrap-token-narrow`],
      ["POST", SECRETS, bootstrapSecret("forged", "0123456789abcdef", 900_000)],
      ["POST", "/api/v1/namespaces/default/pods", pod],
      ["GET", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"],
      ["DELETE", "/api/v1/nodes/worker-1"],
    ];
    for (const [method, path, body] of refused)
      expect((await machine.call(method, path, body)).code, `${method} ${path}`).toBe(403);
  });

  test("a request that its signer may not sign is marked Failed", async () => {
    const { request } = await createRequest({ commonName: "root", organizations: ["system:everybody"] });
    const made = await admin.call("POST", CSRS, {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "greedy" },
      spec: { request: base64(request), signerName: "kubernetes.io/kubelet-serving", usages: ["server auth"] },
    });
    const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "" }];
    await admin.call("PUT", `${CSRS}/greedy/approval`, { ...made.body, status: { conditions } });
    const types = await eventually(async () => {
      const { body } = await admin.call("GET", `${CSRS}/greedy`);
      const found = (at(body, "status", "conditions") as Json[]).map((c) => c["type"]);
      return found.includes("Failed") ? found : undefined;
    });
    expect(types).toEqual(["Approved", "Failed"]);
  });

  test.each(["kube-apiserver-client-kubelet", "kubelet-serving"])(
    "a request of %s for a node without a name is marked Failed once it is approved",
    async (signer) => {
      const { request } = await createRequest({
        commonName: "system:node:",
        organizations: ["system:nodes"],
        ...(signer === "kubelet-serving" ? { dnsNames: ["a"] } : {}),
      });
      const usage = signer === "kubelet-serving" ? "server auth" : "client auth";
      const made = await admin.call("POST", CSRS, {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name: `nameless-${signer}` },
        spec: { request: base64(request), signerName: `kubernetes.io/${signer}`, usages: ["digital signature", usage] },
      });
      expect(made.code).toBe(201);
      const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "" }];
      await admin.call("PUT", `${CSRS}/nameless-${signer}/approval`, { ...made.body, status: { conditions } });
      const failed = await eventually(async () => {
        const { body } = await admin.call("GET", `${CSRS}/nameless-${signer}`);
        return (at(body, "status", "conditions") as Json[]).find((c) => c["type"] === "Failed");
      });
      expect(failed["message"]).toBe("subject common name does not name a node");
    },
  );

  test("ends when the token expires: it is refused, then cleaned away", async () => {
    await admin.call("POST", SECRETS, bootstrapSecret("shortt", "0123456789abcdef", 60_000));
    const machine = await bearing("shortt.0123456789abcdef");
    expect((await machine.call("GET", "/version")).code).toBe(200);
    await clock.advance(62_000);
    expect((await machine.call("GET", "/version")).code).toBe(401);
    await eventually(async () =>
      (await admin.call("GET", `${SECRETS}/bootstrap-token-shortt`)).code === 404 ? true : undefined,
    );
  });
});

describe("a kubelet", () => {
  const node = (name: string, labels: Json = {}): Json => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
  });

  test("writes its own Node and Lease, and no others", async () => {
    const kubelet = await as("system:node:n1", "system:nodes");
    expect((await kubelet.call("POST", "/api/v1/nodes", node("n1"))).code).toBe(201);
    expect((await kubelet.call("POST", "/api/v1/nodes", node("n2"))).code).toBe(403);
    const merge = { "content-type": "application/strategic-merge-patch+json" };
    const status = await kubelet.call("PATCH", "/api/v1/nodes/n1/status", { status: { phase: "Running" } }, merge);
    expect(status.body).toMatchObject({ status: { phase: "Running" } });
    const lease = (name: string): Json => ({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name } });
    const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    expect((await kubelet.call("POST", leases, lease("n1"))).code).toBe(201);
    expect((await kubelet.call("POST", leases, lease("n2"))).code).toBe(403);
    expect((await kubelet.call("GET", "/api/v1/nodes/n1")).code).toBe(200);
    expect((await kubelet.call("GET", "/api/v1/nodes")).code).toBe(403);
    const restricted = { metadata: { labels: { "node-restriction.kubernetes.io/zone": "secure" } } };
    expect((await kubelet.call("PATCH", "/api/v1/nodes/n1", restricted, merge)).code).toBe(403);
  });

  test("reads the secrets of its own pods only", async () => {
    const kubelet = await as("system:node:n3", "system:nodes");
    const secret = (name: string): Json => ({ apiVersion: "v1", kind: "Secret", metadata: { name } });
    for (const name of ["mounted", "private"])
      await admin.call("POST", "/api/v1/namespaces/default/secrets", secret(name));
    await admin.call("POST", "/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: {
        nodeName: "n3",
        containers: [{ name: "c", image: "i" }],
        volumes: [{ name: "v", secret: { secretName: "mounted" } }],
      },
    });
    expect((await kubelet.call("GET", "/api/v1/namespaces/default/secrets/mounted")).code).toBe(200);
    expect((await kubelet.call("GET", "/api/v1/namespaces/default/secrets/private")).code).toBe(403);
  });
});
