/** Plans of a deployment that is given certificates, or whose OVN databases are lost. */
import type { OpenStackDeploymentSpec } from "@causeway/api";
import { secretData, type Pod } from "@causeway/kubernetes";
import { beforeAll, describe, expect, test } from "vitest";
import { labels } from "../model/names.ts";
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
