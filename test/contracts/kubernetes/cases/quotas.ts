import { expect } from "vitest";
import { createRequest } from "@causeway/foundation";
import type { Answer, CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { at, configMap, done, eventually, made, refused } from "./shorthands.ts";

/**
 * A quota in force. Admission reads its status, and kube-apiserver alone has no controller that writes it, so the case
 * writes it; where the server has that controller, the controller writes the same.
 */
async function quota(c: Context, hard: Json, used: Json, more: Json = {}): Promise<void> {
  const path = c.core("resourcequotas");
  const spec = { hard, ...more };
  const body = await made(c.api.post(path, { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec }));
  const { resourceVersion: _r, managedFields: _m, ...metadata } = body["metadata"] as Json;
  await done(c.api.put(`${path}/q/status`, { ...body, metadata, status: { hard, used } }));
}

function usedOf(c: Context): Promise<unknown> {
  return c.api.get(c.core("resourcequotas", "q")).then(({ body }) => at(body, "status", "used"));
}

/** Asks in dry runs until the answer is as wanted: servers hear of quotas a little later. */
function once(c: Context, plural: string, body: Json, code: number): Promise<Answer> {
  return eventually(async () => {
    const answer = await c.api.post(`${c.core(plural)}?dryRun=All`, body);
    return answer.code === code ? answer : undefined;
  }, "the quota");
}

const pod = (name: string, requests: Json): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "c", image: "i", resources: { requests } }], automountServiceAccountToken: false },
});

const service: Json = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "none" },
  spec: { ports: [{ port: 80 }] },
};

async function account({ api, core }: Context): Promise<void> {
  await api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
}

const cases: ContractCase[] = [
  {
    name: "objects are counted as they are made, and no more than allowed",
    async run(c) {
      const none = { "count/secrets": "0", secrets: "0", services: "0" };
      await quota(c, { "count/secrets": "1", secrets: "2", services: "0" }, none);
      // What is made before the server knows of the quota is not charged.
      await once(c, "services", service, 403);
      const secret = (name: string): Json => ({ apiVersion: "v1", kind: "Secret", metadata: { name } });
      await made(c.api.post(c.core("secrets"), secret("a")));
      const answer = await once(c, "secrets", secret("b"), 403);
      refused(
        answer,
        403,
        "Forbidden",
        'secrets "b" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=1, limited: count/secrets=1',
      );
      expect(await usedOf(c)).toEqual({ "count/secrets": "1", secrets: "1", services: "0" });
      await made(c.api.post(c.core("configmaps"), configMap("other")));
    },
  },
  {
    name: "a dry run is judged, and not charged",
    async run(c) {
      await quota(c, { "count/secrets": "1" }, { "count/secrets": "0" });
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } };
      await made(c.api.post(`${c.core("secrets")}?dryRun=All`, secret));
      expect(await usedOf(c)).toEqual({ "count/secrets": "0" });
    },
  },
  {
    name: "pods are charged with what they ask for",
    async run(c) {
      await account(c);
      await quota(
        c,
        { pods: "5", "requests.cpu": "1", memory: "1Gi" },
        { pods: "0", "requests.cpu": "0", memory: "0" },
      );
      await once(c, "pods", pod("none", {}), 403);
      await made(c.api.post(c.core("pods"), pod("a", { cpu: "600m", memory: "256Mi" })));
      await eventually(
        async () => ((await usedOf(c)) as Json | undefined)?.["pods"] === "1" || undefined,
        "the charge",
      );
      expect(await usedOf(c)).toEqual({ pods: "1", "requests.cpu": "600m", memory: "256Mi" });
      const answer = await once(c, "pods", pod("b", { cpu: "500m", memory: "1Gi" }), 403);
      refused(
        answer,
        403,
        "Forbidden",
        'pods "b" is forbidden: exceeded quota: q, requested: memory=1Gi,requests.cpu=500m, used: memory=256Mi,requests.cpu=600m, limited: memory=1Gi,requests.cpu=1',
      );
    },
  },
  {
    name: "a pod must say what a quota counts",
    async run(c) {
      await account(c);
      await quota(c, { "requests.cpu": "1", "limits.memory": "1Gi" }, { "requests.cpu": "0", "limits.memory": "0" });
      const answer = await once(c, "pods", pod("a", {}), 403);
      refused(
        answer,
        403,
        "Forbidden",
        'pods "a" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
      );
    },
  },
  {
    name: "a quota for pods of no particular wishes leaves the others alone",
    async run(c) {
      await account(c);
      await quota(c, { pods: "0" }, { pods: "0" }, { scopes: ["BestEffort"] });
      const answer = await once(c, "pods", pod("a", {}), 403);
      refused(
        answer,
        403,
        "Forbidden",
        'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
      );
      await made(c.api.post(c.core("pods"), pod("b", { cpu: "1m" })));
    },
  },
  {
    name: "a pod that asks for zero CPU has the QoS class BestEffort",
    async run(c) {
      await account(c);
      const { status } = await made(c.api.post(c.core("pods"), pod("b", { cpu: "0" })));
      expect(status).toMatchObject({ qosClass: "BestEffort" });
      await quota(c, { pods: "0" }, { pods: "0" }, { scopes: ["BestEffort"] });
      const answer = await once(c, "pods", pod("a", { cpu: "0" }), 403);
      refused(
        answer,
        403,
        "Forbidden",
        'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
      );
    },
  },
  {
    name: "Services are charged with their kind and ports, also when they become of it",
    async run(c) {
      await quota(c, { "services.nodeports": "1" }, { "services.nodeports": "0" });
      const service = (name: string, type: string): Json => ({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name },
        spec: {
          type,
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 81 },
          ],
        },
      });
      const answer = await once(c, "services", service("a", "NodePort"), 403);
      refused(
        answer,
        403,
        "Forbidden",
        'services "a" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1',
      );
      await made(c.api.post(c.core("services"), service("b", "ClusterIP")));
      const changed = await c.api.patch(c.core("services", "b"), "merge", { spec: { type: "NodePort" } });
      refused(changed, 403, "Forbidden", /exceeded quota: q, requested: services\.nodeports=2/);
    },
  },
  {
    name: "claims are charged with their storage, by class",
    async run(c) {
      const ofClass = "fast.storageclass.storage.k8s.io/requests.storage";
      await quota(c, { "requests.storage": "10Gi", [ofClass]: "1Gi" }, { "requests.storage": "0", [ofClass]: "0" });
      const claim = {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "v" },
        spec: { storageClassName: "fast", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } },
      };
      const answer = await once(c, "persistentvolumeclaims", claim, 403);
      refused(
        answer,
        403,
        "Forbidden",
        `persistentvolumeclaims "v" is forbidden: exceeded quota: q, requested: ${ofClass}=2Gi, used: ${ofClass}=0, limited: ${ofClass}=1Gi`,
      );
    },
  },
  {
    name: "a quota is filled in, and gives back what is deleted",
    except: { server: "kube-apiserver", reason: "that is kube-controller-manager's" },
    async run(c) {
      const path = c.core("resourcequotas");
      const hard = { "count/secrets": "1", "count/widgets.contract.example.com": "3" };
      await made(
        c.api.post(path, { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec: { hard } }),
      );
      const used = (secrets: string): Json => ({
        "count/secrets": secrets,
        "count/widgets.contract.example.com": "0",
      });
      const reached = (secrets: string): Promise<true> =>
        eventually(
          async () => (JSON.stringify(await usedOf(c)) === JSON.stringify(used(secrets)) ? true : undefined),
          "the count",
        );
      await reached("0");
      await made(c.api.post(c.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }));
      await reached("1");
      await done(c.api.delete(c.core("secrets", "a")));
      await reached("0");
    },
  },
  {
    name: "of many that are made at once, no more than allowed are",
    async run(c) {
      await quota(c, { "count/secrets": "3" }, { "count/secrets": "0" });
      const full = Array.from({ length: 12 }, (_, i) => ({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: `s${i}` },
      }));
      await once(c, "secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "probe" } }, 201);
      const codes = (await Promise.all(full.map((s) => c.api.post(c.core("secrets"), s)))).map((a) => a.code);
      expect(codes.filter((code) => code === 201).length).toBeLessThanOrEqual(3);
      expect(codes.filter((code) => code === 201).length).toBeGreaterThan(0);
      expect(codes.every((code) => [201, 403, 409].includes(code))).toBe(true);
    },
  },
];

const signing: ContractCase[] = [
  {
    name: "a certificate request is approved and signed only by who may for its signer",
    async run(c) {
      const { api } = c;
      const user = c.unique("approver");
      const rbac = "rbac.authorization.k8s.io";
      const group = "certificates.k8s.io";
      const resources = ["certificatesigningrequests/approval", "certificatesigningrequests/status"];
      const rules: Json[] = [
        { apiGroups: [group], resources, verbs: ["update", "patch"] },
        { apiGroups: [group], resources: ["signers"], resourceNames: ["mine.example.com/*"], verbs: ["approve"] },
      ];
      await made(
        api.post(`/apis/${rbac}/v1/clusterroles`, {
          apiVersion: `${rbac}/v1`,
          kind: "ClusterRole",
          metadata: { name: user },
          rules,
        }),
      );
      const roleRef = { apiGroup: rbac, kind: "ClusterRole", name: user };
      const subjects = [{ apiGroup: rbac, kind: "User", name: user }];
      await made(
        api.post(`/apis/${rbac}/v1/clusterrolebindings`, {
          apiVersion: `${rbac}/v1`,
          kind: "ClusterRoleBinding",
          metadata: { name: user },
          roleRef,
          subjects,
        }),
      );
      const approver = await c.as({ user });
      const path = `/apis/${group}/v1/certificatesigningrequests`;
      const request = await csr();
      const approve = async (signerName: string): Promise<Answer> => {
        const name = c.unique(signerName.startsWith("mine") ? "mine" : "other");
        const spec = { request, signerName, usages: ["client auth"] };
        const body = await made(
          api.post(path, { apiVersion: `${group}/v1`, kind: "CertificateSigningRequest", metadata: { name }, spec }),
        );
        const conditions = [{ type: "Approved", status: "True", reason: "R", message: "m" }];
        return approver.put(`${path}/${name}/approval`, { ...body, status: { conditions } });
      };
      await done(approve("mine.example.com/a"));
      refused(
        await approve("other.example.com/a"),
        403,
        "Forbidden",
        /is forbidden: user not permitted to approve requests with signerName "other\.example\.com\/a"$/,
      );
      const sign = await approver.patch(`${path}/${c.unique("mine")}/status`, "merge", {
        status: {
          certificate: "",
          conditions: [
            { type: "Approved", status: "True", reason: "R", message: "m" },
            { type: "Failed", status: "True", reason: "R", message: "m" },
          ],
        },
      });
      refused(
        sign,
        403,
        "Forbidden",
        /is forbidden: user not permitted to sign requests with signerName "mine\.example\.com\/a"$/,
      );
    },
  },
];

async function csr(): Promise<string> {
  const { request } = await createRequest({ commonName: "someone" });
  return Buffer.from(request).toString("base64");
}

export const quotas: CaseGroup = { title: "quotas and signers", cases: [...cases, ...signing] };
