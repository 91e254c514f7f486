import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, createRequest, splitCertificates, verifyChain, type KeyPair } from "@causeway/foundation";
import { ConfigMap, createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LogicalClusterOptions, RootRotation } from "../interface.ts";
import { startApiServer } from "../start.ts";

const dir = mkdtempSync(join(tmpdir(), "rotate-roots-"));
const HOUR = 3600_000;
let old: KeyPair;
let fresh: KeyPair;
const keys = [0, 1].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }));
const [oldKey, newKey] = keys.map(({ privateKey }) => privateKey.export({ type: "pkcs8", format: "pem" }).toString());
const [oldPublic, newPublic] = keys.map(({ publicKey }) =>
  publicKey.export({ type: "spki", format: "pem" }).toString(),
);

beforeAll(async () => {
  [old, fresh] = await Promise.all([
    createAuthority({ commonName: "kubernetes", lifetime: HOUR }),
    createAuthority({ commonName: "kubernetes", lifetime: HOUR }),
  ]);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const listen = { host: "127.0.0.1", port: 0, names: [] };
const stage = (
  authority: KeyPair,
  key: string | undefined,
  rotation: RootRotation | "none",
): LogicalClusterOptions => ({
  authority,
  serviceAccountKey: key ?? "",
  rotation,
  listen,
});

async function answers(kubeconfig: string): Promise<boolean> {
  const client = createClient(loadKubeconfig({ text: kubeconfig }));
  const answered = await client.list(ConfigMap).then(
    () => true,
    () => false,
  );
  await client.close();
  return answered;
}

/** The authorities of the next namespace's kube-root-ca.crt. */
async function published(client: KubernetesClient): Promise<string[]> {
  for (let i = 0; i < 200; i++) {
    const found = await client.find(ConfigMap, { namespace: "default", name: "kube-root-ca.crt" });
    if (found?.data?.["ca.crt"]) return splitCertificates(found.data["ca.crt"]);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("kube-root-ca.crt does not come");
}

test("roots change while a cluster is served, are kept over a restart, and are forgotten when they are retired", async () => {
  const first = await startApiServer({ dir });
  const cluster = await first.ensureCluster("web", stage(old, oldKey, "none"));
  const before = await cluster.kubeconfig();
  const { port } = cluster;
  const trust = { trusted: [fresh.certificate], serving: old, accountKeys: [newPublic ?? ""] };
  await first.ensureCluster("web", stage(old, oldKey, trust));
  const sign = { trusted: [old.certificate], serving: old, accountKeys: [oldPublic ?? ""] };
  const signing = await first.ensureCluster("web", stage(fresh, newKey, sign));
  expect(signing.port).toBe(port);
  const middle = await signing.kubeconfig();
  expect([await answers(before), await answers(middle)]).toEqual([true, true]);
  // Private keys are in a file that only the owner reads, and not among the saved options.
  const file = join(dir, "clusters/web/roots.json");
  expect(statSync(file).mode & 0o077).toBe(0);
  await first.close();

  const second = await startApiServer({ dir });
  expect([await answers(before), await answers(middle)]).toEqual([true, true]);
  const after = await second.ensureCluster("web", stage(fresh, newKey, "none"));
  expect(await answers(before)).toBe(false);
  const last = await after.kubeconfig();
  expect([await answers(middle), await answers(last)]).toEqual([true, true]);
  const client = createClient(loadKubeconfig({ text: last }));
  const roots = await published(client);
  await client.close();
  expect(roots).toEqual(splitCertificates(fresh.certificate));
  await second.close();
  expect(existsSync(file)).toBe(true);

  const third = await startApiServer({ dir });
  expect([await answers(before), await answers(last)]).toEqual([false, true]);
  await third.close();
});

test("a rotation with an authority that is none is refused, and what is served remains", async () => {
  const server = await startApiServer({ dir: join(dir, "refused") });
  const cluster = await server.ensureCluster("web", stage(old, oldKey, "none"));
  const kubeconfig = await cluster.kubeconfig();
  const broken = { certificate: (await createRequest({ commonName: "x" })).request, key: fresh.key };
  await expect(server.ensureCluster("web", stage(broken, oldKey, "none"))).rejects.toMatchObject({
    code: "APISERVER_AUTHORITY_INVALID",
  });
  await expect(server.ensureCluster("web", stage(old, "no key", "none"))).rejects.toMatchObject({
    code: "SERVICE_ACCOUNT_KEY_INVALID",
  });
  expect(await answers(kubeconfig)).toBe(true);
  expect(verifyChain(server.cluster("web")?.authority.certificate ?? "", old.certificate)).toBe(true);
  await server.close();
  const again = await startApiServer({ dir: join(dir, "refused") });
  expect(await answers(kubeconfig)).toBe(true);
  await again.close();
});
