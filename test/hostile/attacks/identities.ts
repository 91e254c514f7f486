import { configMap, upTo, CONFIG_MAPS, type Attack } from "../target.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const post = (path: string, object: unknown) =>
  ({ method: "POST", path, type: "application/json", body: JSON.stringify(object) }) as const;
const forged = `${Buffer.from('{"alg":"ES256"}').toString("base64url")}.${Buffer.from('{"iss":"x","sub":"y"}').toString("base64url")}.${"A".repeat(86)}`;

/** What users, roles, and objects that controllers act upon can be made to cost. */
export const identities: readonly Attack[] = [
  {
    title: "bearer tokens of 12 kB are forged",
    run: (t) =>
      t.repeat(2_000, 30, (n) => ({
        path: "/version",
        as: "anonymous",
        headers: { authorization: `Bearer ${n % 2 ? forged : `${forged}${"x".repeat(12_000)}`}` },
      })),
  },
  {
    title: "tokens are requested as fast as they go",
    run: (t) =>
      t.repeat(1_000, 20, () =>
        post("/api/v1/namespaces/default/serviceaccounts/default/token", {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: { audiences: upTo(200).map((n) => `https://audience${n}.example.com`) },
        }),
      ),
  },
  {
    title: "an account without rights asks what it may do, with every kind of review",
    run: (t) => {
      const reviews = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"];
      return t.repeat(2_000, 30, (n) => ({
        ...post(`/apis/authorization.k8s.io/v1/${reviews[n % 2]}`, {
          apiVersion: "authorization.k8s.io/v1",
          kind: n % 2 ? "SelfSubjectRulesReview" : "SelfSubjectAccessReview",
          spec: n % 2 ? { namespace: "default" } : { resourceAttributes: { verb: "get", resource: "x".repeat(5_000) } },
        }),
        as: "powerless",
      }));
    },
  },
  {
    title: "a binding has 10,000 subjects, and a role 5,000 rules",
    lasts: 3_000,
    run: async (t) => {
      const rules = upTo(5_000).map((n) => ({ apiGroups: [`g${n}`], resources: [`r${n}`], verbs: ["get"] }));
      const subjects = upTo(10_000).map((n) => ({
        kind: "User",
        apiGroup: "rbac.authorization.k8s.io",
        name: `u${n}`,
      }));
      await t.send(
        post(`${RBAC}/clusterroles`, {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          metadata: { name: "many" },
          rules,
        }),
      );
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "many" };
      const powerless = { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:serviceaccounts" };
      await t.send(
        post(`${RBAC}/clusterrolebindings`, {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRoleBinding",
          metadata: { name: "many" },
          roleRef,
          subjects: [...subjects, powerless],
        }),
      );
      await t.repeat(1_000, 20, () => ({ path: CONFIG_MAPS, as: "powerless" }));
      await t.send({ method: "DELETE", path: `${RBAC}/clusterrolebindings/many` });
      await t.send({ method: "DELETE", path: `${RBAC}/clusterroles/many` });
    },
  },
  {
    title: "100 cluster roles aggregate one another",
    run: (t) =>
      t.repeat(100, 10, (n) =>
        post(`${RBAC}/clusterroles`, {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          metadata: { name: `cycle-${n}`, labels: { cycle: "yes" } },
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: { cycle: "yes" } }] },
          rules: [],
        }),
      ),
  },
  {
    title: "certificate signing requests come as fast as they go",
    run: (t) =>
      t.repeat(1_000, 20, (n) =>
        post("/apis/certificates.k8s.io/v1/certificatesigningrequests", {
          apiVersion: "certificates.k8s.io/v1",
          kind: "CertificateSigningRequest",
          metadata: { generateName: "csr-" },
          spec: {
            request: Buffer.from(
              n % 2
                ? "x".repeat(100_000)
                : "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n",
            ).toString("base64"),
            signerName: "kubernetes.io/kube-apiserver-client",
            usages: ["client auth"],
          },
        }),
      ),
  },
  {
    title: "300 objects own one another in a cycle",
    run: async (t) => {
      const made = await t.repeat(300, 10, (n) => post(CONFIG_MAPS, configMap(`cycle-${n}`)));
      const uids = made.map((r) => /"uid":"([^"]+)"/.exec(r.start)?.[1] ?? "none");
      await t.repeat(300, 10, (n) => ({
        method: "PATCH",
        path: `${CONFIG_MAPS}/cycle-${n}`,
        type: "application/merge-patch+json",
        body: JSON.stringify({
          metadata: {
            ownerReferences: [
              {
                apiVersion: "v1",
                kind: "ConfigMap",
                name: `cycle-${(n + 1) % 300}`,
                uid: uids[(n + 1) % 300],
                blockOwnerDeletion: true,
              },
            ],
          },
        }),
      }));
      await t.send({ method: "DELETE", path: `${CONFIG_MAPS}/cycle-0?propagationPolicy=Foreground` });
    },
  },
  {
    title: "200 namespaces are created and deleted at once",
    lasts: 3_000,
    run: async (t) => {
      await t.repeat(200, 20, (n) =>
        post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: `storm-${n}` } }),
      );
      await t.repeat(200, 20, (n) => ({ method: "DELETE", path: `/api/v1/namespaces/storm-${n}` }));
    },
  },
  {
    title: "100 resource quotas count every object",
    lasts: 3_000,
    run: async (t) => {
      const hard = Object.fromEntries(upTo(100).map((n) => [`count/things${n}.example.com`, "5"]));
      const quota = {
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: { generateName: "q-" },
        spec: { hard: { ...hard, "count/configmaps": "100000" } },
      };
      await t.repeat(100, 10, () => post("/api/v1/namespaces/default/resourcequotas", quota));
      await t.repeat(200, 10, (n) => post(CONFIG_MAPS, configMap(`counted-${n}`)));
      await t.send({ method: "DELETE", path: "/api/v1/namespaces/default/resourcequotas" });
    },
  },
  {
    title: "30 Services ask for load balancers of 50 ports",
    lasts: 3_000,
    run: async (t) => {
      const ports = upTo(50).map((n) => ({ name: `p${n}`, port: 1000 + n }));
      await t.repeat(30, 10, (n) =>
        post("/api/v1/namespaces/default/services", {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: `balanced-${n}` },
          spec: { type: "LoadBalancer", selector: { a: "b" }, ports },
        }),
      );
      await t.rest();
    },
  },
  {
    title: "the 30 Services are deleted at once",
    lasts: 3_000,
    run: async (t) => {
      await t.repeat(30, 10, (n) => ({ method: "DELETE", path: `/api/v1/namespaces/default/services/balanced-${n}` }));
      await t.rest();
    },
  },
  {
    title: "500 nodes are registered that no machine backs",
    lasts: 3_000,
    run: async (t) => {
      const taints = [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }];
      await t.repeat(500, 20, (n) =>
        post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: `ghost-${n}` }, spec: { taints } }),
      );
      await t.repeat(500, 20, (n) => ({ method: "DELETE", path: `/api/v1/nodes/ghost-${n}` }));
    },
  },
];
