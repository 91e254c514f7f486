/**
 * The rotation of a cluster's certificate authority through the API: what is accepted, and what clients get meanwhile.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { HostedControlPlane, MagnumCluster } from "@causeway/api";
import { createAuthority, createRequest, verifyChain } from "@causeway/foundation";
import { Secret } from "@causeway/kubernetes";
import { openStage, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  stage.call("demo", method, path, { body });

async function newCluster(): Promise<{ readonly uuid: string; readonly key: { namespace: string; name: string } }> {
  const template = {
    name: "t",
    coe: "kubernetes",
    image_id: "cirros",
    flavor_id: "m1.small",
    external_network_id: "public",
  };
  const { body: made } = await call("POST", "/v1/clustertemplates", template);
  const { body } = await call("POST", "/v1/clusters", { cluster_template_id: made["uuid"] });
  const uuid = String(body["uuid"]);
  const [row] = (await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` })).items;
  const { namespace = "", name = "" } = row?.metadata ?? {};
  return { uuid, key: { namespace, name } };
}

it("a rotation is accepted once, for a complete cluster whose control plane rotates, and reaches the control plane", async () => {
  const { uuid, key } = await newCluster();
  const { client } = stage;
  const plane = () => client.find(HostedControlPlane, key);
  await expect.poll(async () => (await plane()) !== undefined, { timeout: 30_000 }).toBe(true);
  /** No machines are made here, so that no controller completes the cluster. */
  const rotate = async (): Promise<Reply> => {
    const { metadata } = await client.get(MagnumCluster, key);
    const observedGeneration = metadata.generation;
    const status = { status: "CREATE_COMPLETE", created: true, changingSince: null, observedGeneration };
    await client.patch(MagnumCluster, key, { type: "merge", body: { status } }, { subresource: "status" });
    return call("PATCH", `/v1/certificates/${uuid}`);
  };
  await expect
    .poll(async () => JSON.stringify((await rotate()).body), { timeout: 30_000 })
    .toContain("does not rotate its certificate authority");
  const authorities = { phase: "Current" };
  await client.patch(
    HostedControlPlane,
    key,
    { type: "merge", body: { status: { authorities } } },
    { subresource: "status" },
  );
  await expect.poll(async () => (await rotate()).status, { timeout: 30_000 }).toBe(202);
  expect((await call("GET", `/v1/clusters/${uuid}`)).body["status"]).toMatch(/_IN_PROGRESS$/);
  expect((await call("PATCH", `/v1/certificates/${uuid}`)).status).toBe(400);
  const asked = (await client.get(MagnumCluster, key)).spec.rotateAuthoritiesAfter;
  await expect.poll(async () => (await plane())?.spec.authorities, { timeout: 30_000 }).toEqual({ rotateAfter: asked });
});

it("during a rotation clients get both authorities, and certificates of the one that signs", async () => {
  const { uuid, key } = await newCluster();
  const made = () => createAuthority({ commonName: "kubernetes", lifetime: 86_400_000 });
  const [signs, other] = [await made(), await made()];
  const bundle = `${signs.certificate.trimEnd()}\n${other.certificate}`;
  const encode = (text: string) => Buffer.from(text).toString("base64");
  await stage.client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `${key.name}-ca`, namespace: key.namespace },
    data: { "tls.crt": encode(bundle), "tls.key": encode(signs.key) },
  });
  expect((await call("GET", `/v1/certificates/${uuid}`)).body["pem"]).toBe(bundle);
  const { request: csr } = await createRequest({ commonName: "admin", organizations: ["system:masters"] });
  const { body } = await call("POST", "/v1/certificates", { cluster_uuid: uuid, csr });
  expect(verifyChain(String(body["pem"]), signs.certificate)).toBe(true);
  expect(verifyChain(String(body["pem"]), other.certificate)).toBe(false);
});
