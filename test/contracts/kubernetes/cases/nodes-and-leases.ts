import { expect } from "vitest";
import { createRequest } from "@causeway/foundation";
import type { CaseGroup, Json } from "../interface.ts";
import { at, done, eventually, invalid, made } from "./shorthands.ts";

const LEASE = "coordination.k8s.io/v1";
const CSR = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

function node(name: string, more: Json = {}): Json {
  return { apiVersion: "v1", kind: "Node", metadata: { name }, ...more };
}

async function request(name: string): Promise<Json> {
  const { request: pem } = await createRequest({ commonName: "system:node:a", organizations: ["system:nodes"] });
  const spec = {
    request: Buffer.from(pem).toString("base64"),
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    usages: ["digital signature", "client auth"],
  };
  return { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", metadata: { name }, spec };
}

function approval(body: Json, type: string): Json {
  return { ...body, status: { conditions: [{ type, status: "True", reason: "Case", message: "so" }] } };
}

export const nodesAndLeases: CaseGroup = {
  title: "nodes, leases and certificates",
  cases: [
    {
      name: "a node keeps the status it registers with",
      async run({ api, unique }) {
        const status = { addresses: [{ type: "InternalIP", address: "10.0.0.1" }], capacity: { cpu: "2" } };
        const body = await made(api.post("/api/v1/nodes", node(unique("node"), { status })));
        expect(body["status"]).toMatchObject(status);
      },
    },
    {
      name: "a node is born with the taint that it is not ready",
      except: {
        server: "causeway",
        reason: "nothing next to it would take the taint off: that is kube-controller-manager's node lifecycle",
      },
      async run({ api, unique }) {
        const body = await made(api.post("/api/v1/nodes", node(unique("node"))));
        expect(at(body, "spec", "taints")).toEqual([{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }]);
      },
    },
    {
      name: "a node's providerID does not change once set",
      async run({ api, unique }) {
        const name = unique("node");
        await made(api.post("/api/v1/nodes", node(name)));
        await done(api.patch(`/api/v1/nodes/${name}`, "merge", { spec: { providerID: "a:///b" } }));
        invalid(
          await api.patch(`/api/v1/nodes/${name}`, "merge", { spec: { providerID: "a:///c" } }),
          'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
        );
      },
    },
    {
      name: "a taint without a known effect is refused",
      async run({ api, unique }) {
        const spec = { taints: [{ key: "a", effect: "Odd" }] };
        invalid(
          await api.post("/api/v1/nodes", node(unique("node"), { spec })),
          'metadata.taints[0].effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        );
      },
    },
    {
      name: "nodes are selected by whether they take pods",
      async run({ api, unique }) {
        const name = unique("node");
        await made(api.post("/api/v1/nodes", node(name, { spec: { unschedulable: true } })));
        const { body } = await api.get(`/api/v1/nodes?fieldSelector=${encodeURIComponent("spec.unschedulable=true")}`);
        expect((body["items"] as Json[]).map((i) => at(i, "metadata", "name"))).toContain(name);
      },
    },
    {
      name: "a lease keeps microseconds",
      async run({ api, apis }) {
        const spec = { holderIdentity: "x", leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:05.123456Z" };
        const body = await made(
          api.post(apis(LEASE, "leases"), { apiVersion: LEASE, kind: "Lease", metadata: { name: "a" }, spec }),
        );
        expect(body["spec"]).toEqual(spec);
      },
    },
    ...(
      [
        [{ leaseDurationSeconds: 0 }, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
        [{ leaseTransitions: -1 }, "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
      ] as const
    ).map(([spec, cause]) => ({
      name: `a lease with ${JSON.stringify(spec)} is refused`,
      async run({ api, apis }: Parameters<CaseGroup["cases"][number]["run"]>[0]) {
        invalid(
          await api.post(apis(LEASE, "leases"), { apiVersion: LEASE, kind: "Lease", metadata: { name: "a" }, spec }),
          cause,
        );
      },
    })),
    {
      name: "a certificate request says who made it, and is not changed",
      async run({ api, unique }) {
        const body = await made(api.post(CSR, await request(unique("csr"))));
        expect(body["spec"]).toMatchObject({
          username: "contract-admin",
          groups: ["system:masters", "system:authenticated"],
        });
        expect(body["status"]).toEqual({});
      },
    },
    {
      name: "a certificate request is approved once and for all",
      async run({ api, unique }) {
        const name = unique("csr");
        const body = await made(api.post(CSR, await request(name)));
        const approved = await done(api.put(`${CSR}/${name}/approval`, approval(body, "Approved")));
        expect(at(approved, "status", "conditions", 0)).toMatchObject({
          type: "Approved",
          status: "True",
          reason: "Case",
        });
        const both = await api.patch(`${CSR}/${name}/approval`, "merge", approval({}, "Denied"));
        expect(both.code).toBe(422);
      },
    },
    {
      name: "an approved request of a kubelet is signed",
      except: { server: "kube-apiserver", reason: "its signers are in kube-controller-manager" },
      async run({ api, unique }) {
        const name = unique("csr");
        const body = await made(api.post(CSR, await request(name)));
        await done(api.put(`${CSR}/${name}/approval`, approval(body, "Approved")));
        const certificate = await eventually(async () =>
          at((await api.get(`${CSR}/${name}`)).body, "status", "certificate"),
        );
        expect(Buffer.from(String(certificate), "base64").toString()).toContain("-----BEGIN CERTIFICATE-----");
      },
    },
    {
      name: "a certificate request that is none is refused",
      async run({ api, unique }) {
        const body = await request(unique("csr"));
        const spec = { ...(body["spec"] as Json), request: Buffer.from("nothing").toString("base64") };
        const answer = await api.post(CSR, { ...body, spec });
        expect({ code: answer.code, reason: answer.body["reason"] }).toEqual({ code: 422, reason: "Invalid" });
        expect(answer.body["message"]).toMatch(
          /spec\.request: Invalid value: .*PEM block type must be CERTIFICATE REQUEST/,
        );
      },
    },
  ],
};
