import { expect } from "vitest";
import { createRequest } from "@causeway/foundation";
import type { Answer, CaseGroup, Context, Json, Raw } from "../interface.ts";
import { at, done, eventually, made, refused } from "./shorthands.ts";

const RBAC = "rbac.authorization.k8s.io";
const CERTIFICATES = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const MIRROR = "kubernetes.io/config.mirror";

/** A Node, and its kubelet. */
async function kubeletOf(c: Context): Promise<{ node: string; uid: unknown; kubelet: Raw }> {
  const node = c.unique("kubelet");
  const made_ = await made(c.api.post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: node } }));
  const kubelet = await c.as({ user: `system:node:${node}`, groups: ["system:nodes"] });
  return { node, uid: at(made_, "metadata", "uid"), kubelet };
}

function forbiddenBy(answer: Answer, why: string): void {
  refused(answer, 403, "Forbidden");
  expect(answer.body["message"]).toContain(`is forbidden: ${why}`);
}

/** A user with ClusterRole rules, once they hold. */
async function withRules(c: Context, name: string, rules: readonly Json[]): Promise<Raw> {
  const role = { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name }, rules };
  await made(c.api.post(`/apis/${RBAC}/v1/clusterroles`, role));
  await made(
    c.api.post(`/apis/${RBAC}/v1/clusterrolebindings`, {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
      subjects: [{ kind: "User", name, apiGroup: RBAC }],
    }),
  );
  const user = await c.as({ user: name });
  const probe = [...rules, { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }][0] as Json;
  const [group, resource, verb] = ["apiGroups", "resources", "verbs"].map((f) => String((probe[f] as string[])[0]));
  const [plural, subresource = ""] = String(resource).split("/");
  const name_ = String((probe["resourceNames"] as string[] | undefined)?.[0] ?? "");
  const spec = { resourceAttributes: { group, resource: plural, subresource, verb, name: name_ } };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
  await eventually(async () => {
    const answer = await user.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body);
    return at(answer.body, "status", "allowed") === true ? true : undefined;
  }, "the rules");
  return user;
}

function pod(name: string, more: { metadata?: Json; spec?: Json } = {}): Json {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...more.metadata },
    spec: { automountServiceAccountToken: false, containers: [{ name: "c", image: "i" }], ...more.spec },
  };
}

async function accounts(c: Context): Promise<void> {
  for (const name of ["default", "robot"]) {
    await c.api.post(c.core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
  }
}

async function request(name: string, more: Json = {}, subject = { commonName: "jane" }): Promise<Json> {
  const { request: pem } = await createRequest(subject);
  const spec = {
    request: Buffer.from(pem).toString("base64"),
    signerName: "example.org/signer",
    usages: ["client auth"],
    ...more,
  };
  return { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", metadata: { name }, spec };
}

const APPROVED = { type: "Approved", status: "True", reason: "Test", message: "" };

function signerRules(verb: string, resourceNames: readonly string[]): Json[] {
  return [
    { apiGroups: ["certificates.k8s.io"], resources: ["signers"], resourceNames, verbs: [verb] },
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests/approval", "certificatesigningrequests/status"],
      verbs: ["update", "patch"],
    },
  ];
}

export const restrictions: CaseGroup = {
  title: "restrictions of kubelets and signers",
  cases: [
    ...(
      [
        ["a label of Kubernetes' own", "foo.kubernetes.io/team"],
        ["a restricted label below a domain", "example.node-restriction.kubernetes.io/team"],
        ["a label of k8s.io", "node.k8s.io/team"],
      ] as const
    ).map(([what, label]) => ({
      name: `a kubelet gives its Node not ${what}, whether by apply, update or patch`,
      async run(c: Context) {
        const { node, kubelet } = await kubeletOf(c);
        const path = `/api/v1/nodes/${node}`;
        const labels = { [label]: "x" };
        const why = `is not allowed to modify labels: ${label}`;
        forbiddenBy(await kubelet.patch(path, "strategic", { metadata: { labels } }), why);
        const now = await done(kubelet.get(path));
        forbiddenBy(await kubelet.put(path, { ...now, metadata: { ...(now["metadata"] as Json), labels } }), why);
        const applied = { apiVersion: "v1", kind: "Node", metadata: { name: node, labels } };
        forbiddenBy(await kubelet.patch(`${path}?fieldManager=k`, "apply", applied), why);
      },
    })),
    {
      name: "a kubelet gives its Node labels that are meant to be its own, and others' labels remain",
      async run(c) {
        const { node, kubelet } = await kubeletOf(c);
        const labels = {
          "kubernetes.io/hostname": "h",
          "node.kubernetes.io/instance-type": "big",
          "x.kubelet.kubernetes.io/y": "z",
          "example.com/team": "a",
        };
        const changed = await done(kubelet.patch(`/api/v1/nodes/${node}`, "merge", { metadata: { labels } }));
        expect(at(changed, "metadata", "labels")).toMatchObject(labels);
      },
    },
    {
      name: "a kubelet registers with labels of its own alone",
      async run(c) {
        const name = c.unique("fresh");
        const kubelet = await c.as({ user: `system:node:${name}`, groups: ["system:nodes"] });
        const node = (labels: Json): Json => ({ apiVersion: "v1", kind: "Node", metadata: { name, labels } });
        forbiddenBy(
          await kubelet.post("/api/v1/nodes", node({ "node-role.kubernetes.io/control-plane": "" })),
          `node "${name}" is not allowed to set the following labels: node-role.kubernetes.io/control-plane`,
        );
        await made(kubelet.post("/api/v1/nodes", node({ "kubernetes.io/os": "linux" })));
      },
    },
    {
      name: "a kubelet changes neither taints nor owners of its Node",
      async run(c) {
        const { node, kubelet } = await kubeletOf(c);
        const path = `/api/v1/nodes/${node}`;
        const taints = [{ key: "a", effect: "NoSchedule" }];
        forbiddenBy(
          await kubelet.patch(path, "merge", { spec: { taints } }),
          `node "${node}" is not allowed to modify taints`,
        );
        const ownerReferences = [{ apiVersion: "v1", kind: "Namespace", name: "x", uid: "y" }];
        forbiddenBy(
          await kubelet.patch(path, "merge", { metadata: { ownerReferences } }),
          `node "${node}" is not allowed to modify ownerReferences`,
        );
      },
    },
    {
      name: "a kubelet shows pods of files as its Node's own, and no others",
      async run(c) {
        await accounts(c);
        const { node, uid, kubelet } = await kubeletOf(c);
        const owner = { apiVersion: "v1", kind: "Node", name: node, uid, controller: true };
        const annotations = { [MIRROR]: "x" };
        const spec = { nodeName: node };
        const post = (name: string, metadata: Json, more: Json = {}) =>
          kubelet.post(c.core("pods"), pod(name, { metadata, spec: { ...spec, ...more } }));
        const only = `node "${node}" can only create pods with`;
        forbiddenBy(
          await post("a", {}),
          `pod does not have "${MIRROR}" annotation, node "${node}" can only create mirror pods`,
        );
        forbiddenBy(await post("b", { annotations }, { nodeName: "other" }), `${only} spec.nodeName set to itself`);
        forbiddenBy(await post("c", { annotations }), `${only} an owner reference set to itself`);
        const loose = { ...owner, controller: false };
        forbiddenBy(
          await post("d", { annotations, ownerReferences: [loose] }),
          `${only} a controller owner reference set to itself`,
        );
        forbiddenBy(
          await post("e", { annotations, ownerReferences: [{ ...owner, uid: "other" }] }),
          `node ${node} UID mismatch: expected other got ${String(uid)}`,
        );
        const volumes = [{ name: "v", secret: { secretName: "s" } }];
        refused(await post("f", { annotations, ownerReferences: [owner] }, { volumes }), 403, "Forbidden");
        await made(post("g", { annotations, ownerReferences: [owner] }));
      },
    },
    {
      name: "a kubelet writes the status of its own pods, evicts and deletes them, and does not change their labels",
      async run(c) {
        await accounts(c);
        const { node, kubelet } = await kubeletOf(c);
        await made(c.api.post(c.core("pods"), pod("mine", { spec: { nodeName: node } })));
        await made(c.api.post(c.core("pods"), pod("other", { spec: { nodeName: "elsewhere" } })));
        const status = { status: { phase: "Running" } };
        await done(kubelet.patch(`${c.core("pods", "mine")}/status`, "merge", status));
        forbiddenBy(
          await kubelet.patch(`${c.core("pods", "other")}/status`, "merge", status),
          `node "${node}" can only update pod status for pods with spec.nodeName set to itself`,
        );
        forbiddenBy(
          await kubelet.patch(`${c.core("pods", "mine")}/status`, "merge", { metadata: { labels: { a: "b" } } }),
          `node "${node}" cannot update labels through pod status`,
        );
        const eviction = (name: string) => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });
        forbiddenBy(
          await kubelet.post(`${c.core("pods", "other")}/eviction`, eviction("other")),
          `node ${node} can only evict pods with spec.nodeName set to itself`,
        );
        forbiddenBy(
          await kubelet.delete(c.core("pods", "other")),
          `node "${node}" can only delete pods with spec.nodeName set to itself`,
        );
        await done(kubelet.delete(c.core("pods", "mine"), { gracePeriodSeconds: 0 }));
      },
    },
    {
      name: "a kubelet asks for tokens of its pods' accounts, bound to these pods",
      async run(c) {
        await accounts(c);
        const { node, kubelet } = await kubeletOf(c);
        const volumes = [
          { name: "t", projected: { sources: [{ serviceAccountToken: { path: "p", audience: "vault" } }] } },
        ];
        const spec = { nodeName: node, serviceAccountName: "robot", volumes };
        const mine = await made(c.api.post(c.core("pods"), pod("mine", { spec })));
        const path = `${c.core("serviceaccounts", "robot")}/token`;
        const ask = (more: Json) =>
          kubelet.post(path, { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: more });
        const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "mine" };
        const whole = { ...boundObjectRef, uid: at(mine, "metadata", "uid") };
        await eventually(async () =>
          (await ask({ boundObjectRef: whole, audiences: ["vault"] })).code === 201 ? true : undefined,
        );
        forbiddenBy(await ask({}), "node requested token not bound to a pod");
        forbiddenBy(await ask({ boundObjectRef }), "node requested token with a pod binding without a uid");
        forbiddenBy(
          await ask({ boundObjectRef: whole, audiences: ["bank"] }),
          `audience "bank" not found in pod spec volume, system:node:${node} is not authorized to request tokens for this audience`,
        );
        forbiddenBy(
          await ask({ boundObjectRef: whole, audiences: ["a", "b"] }),
          "node may only request 0 or 1 audiences",
        );
      },
    },
    {
      name: "a kubelet keeps its own Lease and CSINode",
      async run(c) {
        const { node, kubelet } = await kubeletOf(c);
        const lease = (name: string) => ({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name } });
        const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
        await made(kubelet.post(leases, lease(node)));
        const own = "with the same name as the requesting node";
        forbiddenBy(await kubelet.post(leases, lease("other")), `can only access node lease ${own}`);
        const csi = (name: string) => ({
          apiVersion: "storage.k8s.io/v1",
          kind: "CSINode",
          metadata: { name },
          spec: { drivers: [] },
        });
        const csinodes = "/apis/storage.k8s.io/v1/csinodes";
        await made(kubelet.post(csinodes, csi(node)));
        forbiddenBy(await kubelet.post(csinodes, csi("other")), `can only access CSINode ${own}`);
      },
    },
    {
      name: "a kubelet asks for certificates in its own name",
      async run(c) {
        const { node, kubelet } = await kubeletOf(c);
        const signerName = "kubernetes.io/kube-apiserver-client-kubelet";
        const body = await request(c.unique("other"), { signerName }, { commonName: "system:node:other" });
        forbiddenBy(await kubelet.post(CERTIFICATES, body), `can only create a node CSR with CN=system:node:${node}`);
      },
    },
    {
      name: "an approval of a signing request requires a right on its signer or on all signers of its domain",
      async run(c) {
        for (const [user, names, allowed] of [
          [c.unique("approver-of-other"), ["example.org/other"], false],
          [c.unique("approver-of-one"), ["example.org/signer"], true],
          [c.unique("approver-of-all"), ["example.org/*"], true],
        ] as const) {
          const name = `${user}-request`;
          await made(c.api.post(CERTIFICATES, await request(name)));
          const approver = await withRules(c, user, signerRules("approve", names));
          const status = { conditions: [APPROVED] };
          const answer = await approver.patch(`${CERTIFICATES}/${name}/approval`, "merge", { status });
          if (allowed) expect(answer.code).toBe(200);
          else forbiddenBy(answer, 'user not permitted to approve requests with signerName "example.org/signer"');
        }
      },
    },
    {
      name: "a signature of a signing request requires a right on its signer",
      async run(c) {
        const name = c.unique("signed");
        await made(c.api.post(CERTIFICATES, await request(name)));
        await done(c.api.patch(`${CERTIFICATES}/${name}/approval`, "merge", { status: { conditions: [APPROVED] } }));
        const failed = { type: "Failed", status: "True", reason: "Test", message: "" };
        const signer = await withRules(c, c.unique("signer"), signerRules("sign", ["example.org/other"]));
        forbiddenBy(
          await signer.patch(`${CERTIFICATES}/${name}/status`, "merge", { status: { conditions: [APPROVED, failed] } }),
          'user not permitted to sign requests with signerName "example.org/signer"',
        );
        const right = await withRules(c, c.unique("right-signer"), signerRules("sign", ["example.org/signer"]));
        await done(
          right.patch(`${CERTIFICATES}/${name}/status`, "merge", { status: { conditions: [APPROVED, failed] } }),
        );
      },
    },
    {
      name: "a certificate signing request for group system:masters is rejected",
      async run(c) {
        const signerName = "kubernetes.io/kube-apiserver-client";
        const subject = { commonName: "jane", organizations: ["system:masters"] };
        const body = await request(c.unique("masters"), { signerName }, subject);
        forbiddenBy(
          await c.api.post(CERTIFICATES, body),
          `use of ${signerName} signer with system:masters group is not allowed`,
        );
      },
    },
    {
      name: "an aggregation rule of a ClusterRole requires all rights",
      async run(c) {
        const rules = [{ apiGroups: [RBAC], resources: ["clusterroles"], verbs: ["create", "update", "get"] }];
        const writer = await withRules(c, c.unique("gatherer"), rules);
        const role = {
          apiVersion: `${RBAC}/v1`,
          kind: "ClusterRole",
          metadata: { name: c.unique("gathering") },
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
        };
        forbiddenBy(
          await writer.post(`/apis/${RBAC}/v1/clusterroles`, role),
          "must have cluster-admin privileges to use the aggregationRule",
        );
        await made(c.api.post(`/apis/${RBAC}/v1/clusterroles`, role));
      },
    },
    ...(
      [
        ["escalate", "roles", "clusterroles"],
        ["bind", "bindings", "clusterrolebindings"],
      ] as const
    ).map(([verb, what]) => ({
      name: `a user with verb ${verb} grants more than their own rights by ${what}`,
      async run(c: Context) {
        const name = c.unique("giver");
        const plurals = verb === "escalate" ? ["clusterroles"] : ["clusterrolebindings"];
        const rules = [
          { apiGroups: [RBAC], resources: plurals, verbs: ["create"] },
          {
            apiGroups: [RBAC],
            resources: ["clusterroles"],
            verbs: [verb],
            ...(verb === "bind" ? { resourceNames: ["view"] } : {}),
          },
        ];
        const giver = await withRules(c, name, rules);
        const base = { apiVersion: `${RBAC}/v1`, metadata: { name: c.unique("gift") } };
        if (verb === "escalate") {
          const secrets = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
          await made(giver.post(`/apis/${RBAC}/v1/clusterroles`, { ...base, kind: "ClusterRole", rules: secrets }));
          return;
        }
        const binding = (role: string): Json => ({
          ...base,
          kind: "ClusterRoleBinding",
          roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
          subjects: [{ kind: "User", name: "jane", apiGroup: RBAC }],
        });
        await made(giver.post(`/apis/${RBAC}/v1/clusterrolebindings`, binding("view")));
        refused(await giver.post(`/apis/${RBAC}/v1/clusterrolebindings`, binding("cluster-admin")), 403, "Forbidden");
      },
    })),
  ],
};
