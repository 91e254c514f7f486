import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, conversionsOf, OpenStackCluster, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { startSimulator } from "@causeway/simulator";
import { afterEach, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { planCommand } from "./command.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const infrastructure = "infrastructure.cluster.x-k8s.io";
const reference = (kind: string, name: string) => ({ apiGroup: infrastructure, kind, name });

/** As upstream's template without a load balancer has them, with the credentials. */
const manifests = (cloudsYaml: string) => [
  { apiVersion: "v1", kind: "Secret", metadata: { name: "cloud" }, stringData: { "clouds.yaml": cloudsYaml } },
  {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "web" },
    spec: { infrastructureRef: reference("OpenStackCluster", "web") },
  },
  {
    apiVersion: `${infrastructure}/v1beta1`,
    kind: "OpenStackCluster",
    metadata: { name: "web" },
    spec: {
      apiServerLoadBalancer: { enabled: false },
      disableAPIServerFloatingIP: true,
      apiServerFixedIP: "10.6.0.5",
      externalNetwork: { filter: { name: "public" } },
      identityRef: { cloudName: "simulator", name: "cloud" },
      managedSecurityGroups: { allowAllInClusterTraffic: true },
      managedSubnets: [{ cidr: "10.6.0.0/24" }],
    },
  },
  {
    apiVersion: `${infrastructure}/v1beta1`,
    kind: "OpenStackMachineTemplate",
    metadata: { name: "web-md" },
    spec: { template: { spec: { flavor: "m1.tiny", image: { filter: { name: "cirros" } } } } },
  },
  {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineDeployment",
    metadata: { name: "web-md" },
    spec: {
      clusterName: "web",
      replicas: 2,
      selector: { matchLabels: {} },
      template: {
        spec: {
          clusterName: "web",
          version: "v1.34.0",
          bootstrap: { dataSecretName: "given" },
          infrastructureRef: reference("OpenStackMachineTemplate", "web-md"),
        },
      },
    },
  },
];

test("plan cluster -f shows what the manifests of a new cluster would create, and creates none of it", async () => {
  const [api, simulator] = await Promise.all([
    startApiServer({ crds: allKinds.map(toCustomResourceDefinition), conversions: conversionsOf(allKinds) }),
    startSimulator({ profile: "instant" }),
  ]);
  const dir = mkdtempSync(join(tmpdir(), "causeway-plan-"));
  closing.push(
    () => api.close(),
    () => simulator.close(),
    () => rmSync(dir, { recursive: true }),
  );
  const [kubeconfig, file, wrong] = [join(dir, "kubeconfig"), join(dir, "cluster.yaml"), join(dir, "wrong.yaml")];
  const text = await api.management.kubeconfig();
  writeFileSync(kubeconfig, text);
  writeFileSync(
    file,
    manifests(simulator.cloudsYaml)
      .map((one) => stringify(one))
      .join("---\n"),
  );
  writeFileSync(wrong, "kind: Cluster\n");
  const before = simulator.inventory("demo");
  const printed = vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  closing.push(() => printed.mockRestore());
  const plan = async (...words: string[]) => {
    printed.mockClear();
    await planCommand(new AbortController().signal).parseAsync([...words, "--kubeconfig", kubeconfig], {
      from: "user",
    });
    return printed.mock.calls.map(([chunk]) => String(chunk)).join("");
  };
  const shown = await plan("cluster", "-f", file, "--detailed-exitcode");
  expect(process.exitCode).toBe(3);
  process.exitCode = 0;
  const first = shown.slice(0, shown.indexOf("MachineDeployment"));
  expect(first).toContain("create-network k8s-clusterapi-cluster-default-web\n    POST network /networks");
  expect(first).toContain("PATCH kubernetes /openstackclusters/{name}");
  const each = shown.slice(shown.indexOf("MachineDeployment web-md: 2 machines, each:"));
  expect(each).toContain("create-server web-md-xxxxx\n    POST compute /servers");
  const client = createClient(loadKubeconfig({ text }));
  closing.push(() => client.close());
  expect((await client.list(OpenStackCluster)).items).toEqual([]);
  expect(simulator.inventory("demo")).toEqual(before);
  await expect(plan("cluster", "-f", wrong)).rejects.toMatchObject({ code: "PLAN_FILE_INVALID" });
  await expect(plan("machine", "default/none")).rejects.toMatchObject({ code: "MACHINE_NOT_FOUND" });
});
