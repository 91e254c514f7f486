/**
 * Templates as operators of Magnum publish them, with the labels of their time: what a user gets, and what is reported
 * of it.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster, type MagnumCluster as Row } from "@causeway/api";
import { addonsFor } from "./cluster/addons.ts";
import { plan } from "./cluster/plan.ts";
import { NOW, settled } from "./testing/observed.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
});
afterAll(() => stage.close());

const base = { coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" };

/** Fedora CoreOS with hyperkube of Rancher's, as deployments of Kolla and the Terraform provider's users have it. */
const fedora = {
  ...base,
  network_driver: "calico",
  volume_driver: "cinder",
  docker_storage_driver: "overlay2",
  docker_volume_size: 20,
  master_flavor_id: "m1.small",
  dns_nameserver: "1.1.1.1",
  floating_ip_enabled: false,
  labels: {
    kube_tag: "v1.34.0-rancher1",
    hyperkube_prefix: "docker.io/rancher/",
    container_runtime: "containerd",
    containerd_version: "1.6.31",
    containerd_tarball_sha256: "75afb9b9674ff509ae670ef3ab944ffcdece8ea9f7d92c42307693efa7b6109d",
    cloud_provider_tag: "v1.27.3",
    cinder_csi_plugin_tag: "v1.27.3",
    k8s_keystone_auth_tag: "v1.27.3",
    magnum_auto_healer_tag: "v1.27.3",
    octavia_ingress_controller_tag: "v1.27.3",
    calico_tag: "v3.26.4",
    coredns_tag: "1.11.1",
  },
};

/** Images of an organization's own registry, and storage and ingress of its own drivers. */
const registry = {
  ...base,
  network_driver: "flannel",
  labels: {
    kube_tag: "v1.34.0",
    container_infra_prefix: "registry.example.org/cloud/atomic-system-containers/",
    flannel_backend: "vxlan",
    ingress_controller: "nginx",
    admission_control_list: "NamespaceLifecycle,LimitRanger,ServiceAccount,DefaultStorageClass,ResourceQuota,Priority",
    cgroup_driver: "cgroupfs",
    cephfs_csi_enabled: "true",
    manila_enabled: "true",
    tiller_enabled: "true",
    influx_grafana_dashboard_enabled: "false",
    heat_container_agent_tag: "stein-dev-2",
    keystone_auth_enabled: "true",
  },
};

/** Managed services of public clouds: repair, load balancers, volumes, no dashboard. */
const managed = {
  ...base,
  network_driver: "calico",
  master_lb_enabled: true,
  labels: {
    kube_tag: "v1.34.0",
    cinder_csi_enabled: "true",
    cloud_provider_enabled: "true",
    auto_healing_enabled: "true",
    auto_healing_controller: "magnum-auto-healer",
    auto_scaling_enabled: "false",
    master_lb_floating_ip_enabled: "true",
    master_lb_allowed_cidrs: "0.0.0.0/0",
    octavia_provider: "amphora",
    kube_dashboard_enabled: "false",
    metrics_server_enabled: "true",
    monitoring_enabled: "true",
    boot_volume_size: "20",
    availability_zone: "nova",
  },
};

async function rowOf(template: object): Promise<Row> {
  const made = await stage.call("demo", "POST", "/v1/clustertemplates", { body: template });
  expect([made.status, made.status === 201 ? "" : JSON.stringify(made.body)]).toEqual([201, ""]);
  const { status, body } = await stage.call("demo", "POST", "/v1/clusters", {
    body: { cluster_template_id: made.body["uuid"], master_count: 1 },
  });
  expect([status, status === 202 ? "" : JSON.stringify(body)]).toEqual([202, ""]);
  const labelSelector = `magnum.causeway.dev/uuid=${String(body["uuid"])}`;
  const [row] = (await stage.client.list(MagnumCluster, { labelSelector })).items;
  if (row === undefined) throw new Error("the cluster has no row");
  return row;
}

/** What `status_reason` says once the cluster is complete. */
function saidOf({ spec }: Row): readonly string[] {
  const { status } = plan(settled({ spec: { ...spec, addons: "Own" } }), NOW);
  return (status.reason ?? "").split(". ").filter((each) => !each.startsWith("network_driver="));
}

it.each<[string, object, object, string[]]>([
  [
    "Fedora CoreOS with Rancher's images",
    fedora,
    { version: "v1.34.0", images: ["docker.io/coredns/coredns:1.11.1"] },
    [
      "CREATE completed successfully",
      "volume_driver=cinder has no effect: the node part of the Cinder CSI driver is not installed",
      "Attributes without effect: master_flavor_id, docker_storage_driver, floating_ip_enabled",
      "Labels without effect: calico_tag, cinder_csi_plugin_tag, cloud_provider_tag, container_runtime, containerd_tarball_sha256, containerd_version, hyperkube_prefix, k8s_keystone_auth_tag, magnum_auto_healer_tag, octavia_ingress_controller_tag",
    ],
  ],
  [
    "a registry of one's own",
    registry,
    { version: "v1.34.0", images: Array<string>(3).fill("registry.example.org/cloud/atomic-system-containers") },
    [
      "CREATE completed successfully",
      "Labels without effect: admission_control_list, cephfs_csi_enabled, cgroup_driver, heat_container_agent_tag, ingress_controller, manila_enabled, tiller_enabled",
    ],
  ],
  [
    "a public cloud's managed service",
    managed,
    { version: "v1.34.0", images: [] },
    [
      "CREATE completed successfully",
      "Labels without effect: auto_healing_controller, master_lb_floating_ip_enabled, monitoring_enabled",
    ],
  ],
])("%s: the cluster is created, and what has no effect is named", async (_, template, expected, said) => {
  const row = await rowOf(template);
  const images = addonsFor(row, {}, undefined).flatMap(
    ({ catalogue }) => catalogue?.image ?? catalogue?.imagePrefix ?? [],
  );
  expect({ version: row.spec.version, images }).toEqual(expected);
  expect(addonsFor(row, {}, undefined).map(({ name }) => name)).toEqual(["flannel", "kube-proxy", "coredns"]);
  expect(saidOf(row)).toEqual(said);
});

it("a feature gate of an old Kubernetes is refused by name, at once", async () => {
  const labels = { ...registry.labels, kubeapi_options: "--feature-gates=CSINodeInfo=true" };
  const { status, body } = await stage.call("demo", "POST", "/v1/clustertemplates", { body: { ...registry, labels } });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("label kubeapi_options is refused")]);
});
