/** TLS of the APIs on the simulated cluster: certificates before pods, and renewed without an API that is away. */
import { X509Certificate } from "node:crypto";
import { createAuthority, issueCertificate, splitCertificates, verifyChain } from "@causeway/foundation";
import { ConfigMap, Deployment, Secret, secretData } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { Certificate, install } from "./other-operators.ts";
import { NAME, NAMESPACE, OperatorWorld } from "./world.ts";

const DAY = 86_400_000;
const LABEL = "openstack.causeway.dev/deployment";
let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await OperatorWorld.start(1));
const text = (secret: Secret, key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString();
const secretOf = (w: OperatorWorld, name: string) => w.client.get(Secret, { namespace: NAMESPACE, name });
/** APIs of the deployment by name, and how many of their pods serve. */
const available = async (w: OperatorWorld): Promise<Map<string, number>> =>
  new Map(
    (await w.list(Deployment))
      .filter(({ spec }) => JSON.stringify(spec.template).includes("/programs/front.py"))
      .map(({ metadata, status }) => [metadata.name, status?.availableReplicas ?? 0]),
  );

describe("certificates of the deployment's own authority", () => {
  test("come before pods, have each API's names, are of an authority that pods trust, and are written once", async () => {
    const w = await start();
    w.runOperator();
    await w.createDeployment({ tls: { from: "Own" } });
    await w.until("a pod of Keystone's API", () => Promise.resolve(w.started.includes("keystone-api")));
    const certificate = text(await secretOf(w, "cloud-keystone-api-certificates"), "tls.crt");
    await w.whenReady();
    const maps = await w.list(ConfigMap);
    const trusted = maps.find(({ metadata }) => metadata.name.startsWith("cloud-authorities-"))?.data?.["ca.crt"] ?? "";
    expect(splitCertificates(trusted)).toHaveLength(1);
    expect(verifyChain(certificate, trusted)).toBe(true);
    for (const host of ["cloud-keystone-api.default.svc", "identity.cloud.example.org"])
      expect(new X509Certificate(certificate).checkHost(host)).toBe(host);
    expect(new X509Certificate(certificate).checkHost("image.cloud.example.org")).toBeUndefined();
    expect(JSON.stringify(maps)).not.toContain("http://cloud-");
    await w.settle();
    const count = w.writes.length;
    await w.touchDeployment();
    await w.settle();
    expect(w.writes.slice(count)).toEqual([]);
    await expect(w.change({ tls: null })).rejects.toThrow(/tls is chosen when the deployment is created/);
  });

  test("are renewed after two thirds of their life: every API rolls to its new one and is never away", async () => {
    const w = await start();
    w.runOperator();
    await w.createDeployment({ tls: { from: "Own" }, rotation: { certificateDays: 3 } });
    await w.whenReady();
    await w.settle();
    const used = async () =>
      new Set(
        (await w.pods()).flatMap(({ spec }) =>
          JSON.stringify(spec.volumes ?? [])
            .matchAll(/"(cloud-[a-z-]+-tls-[0-9a-f]{10})"/g)
            .map(([, name]) => name)
            .toArray(),
        ),
      );
    const [before, apis] = [await used(), await available(w)];
    expect(before.size).toBe(apis.size + 1); // the proxy of consoles serves TLS by itself
    const away = new Set<string>();
    await w.until(
      "every API uses its new certificate",
      async () => {
        for (const [name, pods] of await available(w)) if (pods === 0) away.add(name);
        const now = await used();
        return [...now].every((name) => !before.has(name)) && now.size === before.size;
      },
      600_000,
    );
    expect([...away]).toEqual([]);
    expect(w.clock.now()).toBeGreaterThanOrEqual(Date.UTC(2026, 0, 1) + 2 * DAY);
    await w.whenReady();
    await w.settle();
    // A rollback finds what it had: as long as a ReplicaSet refers to it, it remains.
    const kept = (await w.list(Secret)).map(({ metadata }) => metadata.name).filter((name) => before.has(name));
    expect(new Set(kept)).toEqual(before);
  });
});

test("an administrator's certificate is refused with the reason until it is valid, and pods roll when it is replaced", async () => {
  const w = await start();
  w.runOperator();
  await w.createDeployment({ tls: { from: "Secret", name: "given" } });
  const refusal = (words: RegExp) =>
    w.until(String(words), async () => {
      const found = await w.condition("ConfigurationValid");
      return found?.status === "False" && words.test(found.message ?? "");
    });
  await refusal(/Secret given is missing.*kubectl -n default label secret given/);
  const now = w.clock.now();
  const authority = await createAuthority({ commonName: "corporate", lifetime: 900 * DAY, now });
  const files = async (dnsNames: string[]) => {
    const options = { commonName: "cloud", dnsNames, usages: ["server" as const], lifetime: 90 * DAY, now };
    const pair = await issueCertificate(authority, options);
    return secretData({ "tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": authority.certificate });
  };
  const metadata = { name: "given", namespace: NAMESPACE, labels: { [LABEL]: NAME } };
  const given = { apiVersion: "v1", kind: "Secret", metadata };
  await w.client.create(Secret, { ...given, data: await files(["identity.cloud.example.org"]) });
  await refusal(/Secret given: its certificate lacks \d+ names/);
  expect(w.started).toEqual([]);
  const all = ["*.cloud.example.org", "*.default.svc", "*.default.svc.cluster.local"];
  const write = async () =>
    w.client.patch(
      Secret,
      { namespace: NAMESPACE, name: "given" },
      { type: "merge", body: { data: await files(all) } },
    );
  await write();
  await w.whenReady();
  const mounted = async () =>
    JSON.stringify((await w.list(Deployment)).find(({ metadata: { name } }) => name === "cloud-glance-api")?.spec);
  const before = await mounted();
  await write();
  await w.until("Glance has the new one", async () => (await mounted()) !== before);
  await w.whenReady();
  await w.settle();
  expect(await secretOf(w, "given")).toBeDefined();
});

test("certificates of cert-manager are requested once it is installed, and waited for", async () => {
  const w = await start();
  w.runOperator();
  await w.createDeployment({ tls: { from: "ClusterIssuer", name: "corporate" } });
  await w.until("the refusal", async () =>
    /cert-manager is not installed/.test((await w.condition("ConfigurationValid"))?.message ?? ""),
  );
  await install(w.client, Certificate);
  await w.until("what it waits for", async () =>
    /cert-manager has not written/.test((await w.condition("Ready"))?.message ?? ""),
  );
  expect(w.started).toEqual([]);
  const now = w.clock.now();
  const authority = await createAuthority({ commonName: "corporate", lifetime: 900 * DAY, now });
  for (const { spec } of (await w.client.list(Certificate, { namespace: NAMESPACE })).items) {
    const options = {
      commonName: "cloud",
      dnsNames: spec["dnsNames"] as string[],
      usages: ["server" as const],
      lifetime: DAY,
      now,
    };
    const pair = await issueCertificate(authority, options);
    await w.client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: String(spec["secretName"]), namespace: NAMESPACE, labels: { [LABEL]: NAME } },
      data: secretData({ "tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": authority.certificate }),
    });
  }
  await w.whenReady();
  await w.settle();
  const left = await w.client.list(Certificate, { namespace: NAMESPACE });
  expect(left.items.length).toBeGreaterThan(8);
});
