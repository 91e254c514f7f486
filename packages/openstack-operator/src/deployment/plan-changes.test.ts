/** Plans of a deployment that is restored, given certificates, or whose OVN databases are lost. */
import type { OpenStackDeploymentSpec } from "@causeway/api";
import { secretData, type Pod } from "@causeway/kubernetes";
import { beforeAll, describe, expect, test } from "vitest";
import { annotations, labels } from "../model/names.ts";
import { PlayedDeployment, spec, START } from "../testing/deployed.ts";
import { idOf } from "./gather.ts";
import { desiredFor } from "./plan.ts";

let settled: PlayedDeployment;
beforeAll(async () => {
  settled = new PlayedDeployment();
  await settled.settle();
});

function changed(more: Partial<OpenStackDeploymentSpec>): PlayedDeployment {
  const copy = settled.copy();
  copy.spec = { ...spec, ...more };
  return copy;
}

describe("a restore", () => {
  const RUN = "20260101t020000z";
  const restore = { from: RUN, target: { claim: "backups" }, keys: { name: "passphrase" } };
  const created = () => {
    const deployment = new PlayedDeployment();
    deployment.spec = { ...spec, restore };
    return deployment;
  };

  test("of passwords and keys comes before everything, and the status has its step", async () => {
    const deployment = created();
    deployment.status = { maintenance: [{ node: "n1", phase: "Moving", servers: 1, message: "" }] };
    const plan = deployment.plan();
    expect(plan).toMatchObject({ phase: "Restoring", ready: "False Restoring: decrypts passwords and keys", said: [] });
    expect(plan.names).toContain("apply NetworkPolicy/cloud-restore-keys");
    expect(plan.names.some((name) => name.includes("mariadb") || name.startsWith("write"))).toBe(false);
    expect(plan.wait).toEqual({ for: "the passwords and keys of the backup" });
    expect(plan.status).toMatchObject({
      observedGeneration: 1,
      restore: { from: `cloud/${RUN}`, step: "decrypts passwords and keys", done: [] },
    });
    expect(plan.status.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
      "KeysRestored False",
      "DatabasesRestored False",
      "NetworkRestored False",
      "NetworkRepaired False",
      "Ready False",
    ]);
    expect(plan.status).not.toHaveProperty("maintenance");
    expect(deployment.options).toMatchObject([{ credentials: { values: {} }, isRestoring: true }]);
    for (const absent of ["tls", "operators", "ovn", "knownDatabases"])
      expect(deployment.options[0]).not.toHaveProperty(absent);
    const { generation: _none, ...metadata } = deployment.metadata;
    deployment.metadata = metadata;
    expect(deployment.plan().status).not.toHaveProperty("observedGeneration");
  });

  test("is refused, once with an event, where the deployment holds data", () => {
    const copy = changed({ restore });
    const plan = copy.plan();
    const message = "Secret cloud-credentials exists: the deployment holds data, which a restore would replace";
    expect(plan).toMatchObject({
      names: [],
      phase: "Refused",
      ready: `False HoldsData: ${message}`,
      said: [`Warning HoldsData: ${message}`],
    });
    copy.status = plan.status;
    expect(copy.plan()).toMatchObject({ names: [], phase: "Refused", said: [] });
  });

  test("continues with databases once its keys were adopted, to its end", async () => {
    const deployment = created();
    const keys = { credentials: { "keystone.admin": "password" } };
    await deployment.settle(() => deployment.objects.has("Secret/cloud-restored-keys"));
    const restored = deployment.objects.get("Secret/cloud-restored-keys");
    const data = secretData({ keys: JSON.stringify(keys), backup: `cloud/${RUN}` });
    deployment.objects.set("Secret/cloud-restored-keys", { ...restored, data } as never);
    expect(deployment.plan().names).toEqual(["adopt-keys cloud-credentials"]);
    const passes = await deployment.settle();
    const phases = [...new Set(passes.map(({ phase }) => phase))];
    expect(phases).toEqual(["Restoring", "Ready"]);
    expect(passes.some(({ names }) => names.some((name) => name.includes("keystone-db-restore")))).toBe(true);
    expect(passes.at(-1)?.status.restore).toMatchObject({ step: "Done", completedAt: "2026-01-01T00:00:00Z" });
    expect(deployment.objects.get("Secret/cloud-credentials")?.metadata.annotations).toEqual({
      [annotations.restored]: `cloud/${RUN}`,
    });
    expect(deployment.options[0]).not.toHaveProperty("isRestoring");
    const before = deployment.status?.restore;
    deployment.open = ["mariadb"];
    expect(deployment.plan()).toMatchObject({ phase: "Updating", status: { restore: before } });
  });
});

describe("certificates of another program", () => {
  const tls = { from: "ClusterIssuer", name: "corporate" } as const;

  test("are requested, waited for, and kept", async () => {
    const deployment = new PlayedDeployment();
    deployment.spec = { ...spec, tls };
    deployment.served.add("Certificate");
    const first = await deployment.pass();
    const requested = first.names.filter((name) => name.startsWith("apply Certificate/"));
    expect(requested).toContain("apply Certificate/cloud-keystone-api-certificates");
    expect(first.status).toEqual({});
    expect(await deployment.pass()).toMatchObject({
      names: [],
      phase: "Installing",
      ready: expect.stringMatching(/^False CertificateMissing: cert-manager has not written/),
    });
    for (const name of requested.map((step) => step.replace("apply Certificate/", ""))) {
      const data = secretData({ "tls.crt": `certificate of ${name}`, "tls.key": "key", "ca.crt": "authority" });
      const metadata = { name, namespace: "openstack", labels: { [labels.deployment]: "cloud" } };
      deployment.objects.set(`Secret/${name}`, { apiVersion: "v1", kind: "Secret", metadata, data } as never);
    }
    const passes = await deployment.settle();
    expect(passes.at(-1)?.phase).toBe("Ready");
    expect(passes.flatMap(({ names }) => names).filter((name) => name.startsWith("delete"))).toEqual([]);
    expect(deployment.options[0]?.tls?.pairs["keystone-api"]?.key).toBe("key");
  });

  test("of the deployment itself are renewed in time", () => {
    const deployment = changed({ tls: { from: "Own" } });
    const { names } = deployment.plan();
    expect(names).toContain("issue-certificate cloud-keystone-api-certificates");
    expect(deployment.options).toEqual([]);
  });
});

describe("OVN's databases", () => {
  const OLD = "11111111-1111-4111-8111-111111111111";
  const NEW = "22222222-2222-4222-8222-222222222222";
  const report = (component: string, message: string): Pod =>
    ({
      metadata: { name: `cloud-${component}-0`, labels: { [labels.component]: component } },
      spec: { containers: [] },
      status: { initContainerStatuses: [{ name: "prepare-data", state: { terminated: { exitCode: 0, message } } }] },
    }) as unknown as Pod;

  test.each([
    ["northbound", "nb", "ovn-nb", "NorthboundLost", "NetworkRebuilt", "neutron-ovn-sync"],
    ["southbound", "sb", "ovn-sb", "SouthboundLost", "SouthboundRebuilt", "ovn-sb-sync"],
  ] as const)("that were lost are rebuilt: the %s one", async (side, short, component, lost, rebuilt, job) => {
    const copy = settled.copy();
    copy.pods = [report("ovn-nb", OLD), report("ovn-sb", OLD)];
    await copy.settle();
    expect(copy.status).toMatchObject({ northbound: { database: OLD }, southbound: { database: OLD } });
    expect(copy.options).toMatchObject([{ ovn: {}, knownDatabases: { nb: OLD, sb: OLD } }]);
    copy.pods = copy.pods.map((pod) => (pod.metadata.name.includes(component) ? report(component, NEW) : pod));
    const passes = await copy.settle();
    expect(passes[0]?.said).toEqual([expect.stringMatching(`^Warning ${lost}: `)]);
    expect(passes.flatMap(({ said }) => said)).toContainEqual(expect.stringMatching(`^Normal ${rebuilt}: `));
    expect(passes.flatMap(({ names }) => names)).toContainEqual(expect.stringMatching(`^apply Job/cloud-${job}-`));
    expect(copy.status?.[side]).toEqual({ database: NEW, rebuiltAt: "2026-01-01T00:00:00Z" });
    expect(copy.options).toMatchObject([{ ovn: { [short]: { database: NEW, isRebuilding: false } } }]);
    const { conditions = [] } = copy.status ?? {};
    expect(conditions.find(({ type }) => type === rebuilt)?.status).toBe("True");
  });
});

test("a deployment consists, for a comparison, of what its plan renders", async () => {
  const desired = desiredFor(settled.observed());
  const ids = [...desired.foundation, ...[...desired.workloads.values()].flat()].map(({ object }) => idOf(object));
  expect(ids.filter((id) => !settled.objects.has(id))).toEqual([]);
  const created = new PlayedDeployment();
  expect(desiredFor(created.observed()).catalogue.components.length).toBe(desired.catalogue.components.length);
  expect(settled.now).toBe(START);
});
