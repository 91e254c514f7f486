/**
 * A team's namespace is deleted with all that is in it, credentials included, while its cluster serves a load balancer.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  Cluster,
  HostedControlPlane,
  KubeadmConfigTemplate,
  MachineDeployment,
  OpenStackCluster,
  OpenStackMachineTemplate,
} from "@causeway/api";
import {
  createClient,
  loadKubeconfig,
  Namespace,
  Secret,
  Service,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { TIMEOUT, eventually } from "../../support/processes.ts";
import { openStage, type Stage } from "../../support/stage.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const namespace = "team";
const infrastructure = "infrastructure.cluster.x-k8s.io";

let stage: Stage;
let management: KubernetesClient;

beforeAll(async () => {
  stage = await openStage();
  await stage.up("--log-level", "warn").until(/management API/);
  management = stage.client();
});

afterAll(async () => {
  await management?.close();
  await stage?.close();
});

async function make<T extends KubeObject>(type: ResourceType<T>, name: string, fields: object): Promise<void> {
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  const object = { apiVersion, kind: type.kind, metadata: { name, namespace }, ...fields } as unknown as T;
  await management.create(type, object);
}

async function makeCluster(): Promise<void> {
  const template = (name: string, group: string, kind: string) => ({ apiGroup: group, kind, name });
  const data = { "clouds.yaml": Buffer.from(stage.simulator.cloudsYaml).toString("base64") };
  await management.create(Namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  } as Namespace);
  await make(Secret, "cloud", { data });
  await make(OpenStackCluster, "web", {
    spec: {
      identityRef: { name: "cloud", cloudName: "simulator" },
      managedSubnets: [{ cidr: "10.7.0.0/24" }],
      managedSecurityGroups: {},
      apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
    },
  });
  await make(HostedControlPlane, "web", { spec: { version: "v1.34.0" } });
  const machine = { flavor: { filter: { name: "m1.small" } }, image: { filter: { name: "cirros" } } };
  await make(OpenStackMachineTemplate, "web", { spec: { template: { spec: machine } } });
  const nodeRegistration = { kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }] };
  await make(KubeadmConfigTemplate, "web", {
    spec: { template: { spec: { joinConfiguration: { nodeRegistration } } } },
  });
  await make(MachineDeployment, "web", {
    spec: {
      clusterName: "web",
      replicas: 2,
      template: {
        spec: {
          clusterName: "web",
          version: "v1.34.0",
          bootstrap: { configRef: template("web", "bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate") },
          infrastructureRef: template("web", infrastructure, "OpenStackMachineTemplate"),
        },
      },
    },
  });
  await make(Cluster, "web", {
    spec: {
      infrastructureRef: template("web", infrastructure, "OpenStackCluster"),
      controlPlaneRef: template("web", "controlplane.cluster.x-k8s.io", "HostedControlPlane"),
    },
  });
}

test("nothing is left in the cloud, and the namespace goes", async () => {
  await makeCluster();
  const kubeconfig = await eventually(TIMEOUT, () => management.find(Secret, { namespace, name: "web-kubeconfig" }));
  const text = Buffer.from(kubeconfig.data?.["value"] ?? "", "base64").toString("utf8");
  const workload = createClient(loadKubeconfig({ text }));
  try {
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "front", namespace: "default" },
      spec: { type: "LoadBalancer", ports: [{ port: 80, protocol: "TCP" }] },
    } as Service;
    await workload.create(Service, service);
    await eventually(TIMEOUT, async () => {
      const found = await workload.find(Service, { namespace: "default", name: "front" });
      return found?.status?.loadBalancer?.ingress?.[0]?.ip !== undefined;
    });
  } finally {
    await workload.close();
  }
  expect(stage.simulator.inventory("demo").join("\n")).toMatch(/kube_service_team-web_default_front/);

  await management.delete(Namespace, { namespace: "", name: namespace });
  await eventually(
    TIMEOUT,
    async () => (await management.find(Namespace, { namespace: "", name: namespace })) === undefined,
  );
  expect(stage.simulator.inventory("demo")).toEqual(stage.before);
});

test("a kubeconfig that a user deletes is written again", async () => {
  await makeCluster();
  const key = { namespace, name: "web-kubeconfig" };
  const first = await eventually(TIMEOUT, () => management.find(Secret, key));
  await management.delete(Secret, key);
  const second = await eventually(TIMEOUT, async () => {
    const found = await management.find(Secret, key);
    return found?.metadata.uid === first.metadata.uid ? undefined : found;
  });
  expect(second.data?.["value"]).toBeTruthy();
  await management.delete(Namespace, { namespace: "", name: namespace });
  await eventually(
    TIMEOUT,
    async () => (await management.find(Namespace, { namespace: "", name: namespace })) === undefined,
  );
  expect(stage.simulator.inventory("demo")).toEqual(stage.before);
});
