import type { AddonSet, Cluster, MagnumCluster } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { addonManifests, addonsFor, driverNotes, type AddonInstallation } from "./addons.ts";
import { labelSettings, refusedLabel, unusedLabels } from "./labels.ts";
import { kubeProxyLabel, migratingAnnotation } from "./names.ts";

interface Given {
  readonly addons?: "Managed" | "Own" | "KubeProxy" | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly template?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

const clusterOf = ({ labels = {}, template, annotations, ...rest }: Given = {}): MagnumCluster =>
  ({
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumCluster",
    metadata: { name: "web-1", namespace: "magnum-p", uid: "u", annotations },
    spec: {
      uuid: "6e8ae3a5-0b4c-4f0e-9d26-000000000001",
      labels,
      addons: "addons" in rest ? rest.addons : "Managed",
      template: { coe: "kubernetes", imageID: "cirros", networkDriver: "flannel", ...template },
    },
  }) as unknown as MagnumCluster;

const adopted = { metadata: { annotations: { "causeway.dev/cloud-cluster-name": "x" } } } as unknown as Cluster;
const all = ["flannel", "kube-proxy", "coredns"];
const images = (labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(addonsFor(clusterOf({ labels }), {}, undefined).map(({ name, catalogue }) => [name, catalogue]));

describe("the add-ons of a cluster", () => {
  it.each<[string, Given, AddonInstallation, Cluster | undefined, string[]]>([
    ["are network, kube-proxy and DNS for a new one", {}, {}, undefined, all],
    ["have flannel in place of calico", { template: { networkDriver: "calico" } }, {}, undefined, all],
    [
      "have no network where routes of the cloud serve pods",
      {},
      { podNetwork: "routes" },
      undefined,
      ["kube-proxy", "coredns"],
    ],
    [
      "have no network where a user brings it",
      { labels: { causeway_addons: "coredns,kube-proxy" } },
      {},
      undefined,
      all.slice(1),
    ],
    [
      "are none where a user brings all of them",
      { labels: { causeway_addons: "none" } },
      { csiImage: "c" },
      undefined,
      [],
    ],
    ["have a network for one that was made before", { addons: undefined }, {}, undefined, all.slice(1)],
    ["are its own for one that is migrated", { addons: "Own" }, { csiImage: "c" }, undefined, []],
    [
      "are its own for one that is migrated now",
      { addons: undefined, annotations: { [migratingAnnotation]: "import Done x" } },
      {},
      undefined,
      [],
    ],
    ["are its own for one that was migrated before", { addons: undefined }, {}, adopted, []],
    [
      "are kube-proxy for one whose nodes were replaced",
      { addons: "KubeProxy" },
      { csiImage: "c" },
      adopted,
      ["kube-proxy"],
    ],
    [
      "are kube-proxy for one whose nodes are being replaced, whatever its labels say",
      {
        addons: "KubeProxy",
        labels: { causeway_addons: "none" },
        annotations: { [migratingAnnotation]: "roll Running x" },
      },
      {},
      adopted,
      ["kube-proxy"],
    ],
    ["are ours for one that was migrated when requested", { addons: "Managed" }, {}, adopted, all],
    [
      "include the Cinder driver where its image is known",
      {},
      { csiImage: "c" },
      undefined,
      [...all, "cinder-csi-node"],
    ],
    [
      "do not include the Cinder driver where it is not wanted",
      { labels: { cinder_csi_enabled: "False" } },
      { csiImage: "c" },
      undefined,
      all,
    ],
  ])("%s", (_, given, installation, cluster, names) => {
    const object = clusterOf(given);
    expect(addonsFor(object, installation, cluster).map(({ name }) => name)).toEqual(names);
    const [made] = addonManifests(object, installation, cluster).map((one) => one.object as AddonSet);
    expect(made?.spec.addons.length ?? 0).toBe(names.length);
    if (made) expect(made).toMatchObject({ metadata: { name: "web-1-addons" }, spec: { clusterName: "web-1" } });
  });

  it("have the images of the labels, as the Heat driver named them", () => {
    expect(images({})).toMatchObject({ coredns: { name: "CoreDNS" }, flannel: { name: "Flannel" } });
    expect(images({ coredns_tag: "1.11.1" })["coredns"]).toMatchObject({ image: "docker.io/coredns/coredns:1.11.1" });
    expect(images({ coredns_tag: "v1.12.1" })["coredns"]).toMatchObject({
      image: "registry.k8s.io/coredns/coredns:v1.12.1",
    });
    const container_infra_prefix = "gitlab-registry.cern.ch/cloud/atomic-system-containers/";
    const imagePrefix = "gitlab-registry.cern.ch/cloud/atomic-system-containers";
    expect(images({ container_infra_prefix, coredns_tag: "1.6.6", flannel_tag: "v0.28.4" })).toEqual({
      flannel: { name: "Flannel", imagePrefix, image: `${imagePrefix}/flannel:v0.28.4` },
      "kube-proxy": { name: "KubeProxy", imagePrefix },
      coredns: { name: "CoreDNS", imagePrefix, image: `${imagePrefix}/coredns:1.6.6` },
    });
  });

  it("have kube-proxy in the mode of the Heat driver, on new nodes only while there are others", () => {
    const catalogue = (given: Given) =>
      addonsFor(clusterOf({ addons: "KubeProxy", ...given }), {}, adopted)[0]?.catalogue;
    const proxyMode = "iptables";
    expect(catalogue({ annotations: { [migratingAnnotation]: "roll Done x" } })).toEqual({
      name: "KubeProxy",
      proxyMode,
      nodeSelector: { [kubeProxyLabel]: "true" },
    });
    expect(catalogue({ labels: { container_infra_prefix: "r.example.org/m/" } })).toEqual({
      name: "KubeProxy",
      proxyMode,
      imagePrefix: "r.example.org/m",
    });
  });

  it("say what becomes of the drivers of network and volumes", () => {
    const notes = (given: Given, installation: AddonInstallation = {}, cluster?: Cluster) =>
      driverNotes(clusterOf(given), installation, cluster);
    expect(notes({})).toEqual([]);
    expect(notes({ template: { networkDriver: "calico", volumeDriver: "cinder" } })).toEqual([
      "network_driver=calico is served by flannel, which does not enforce NetworkPolicies",
      "volume_driver=cinder has no effect: the node part of the Cinder CSI driver is not installed",
    ]);
    expect(notes({ template: { volumeDriver: "cinder" } }, { csiImage: "c" })).toEqual([]);
    const [routed] = notes({}, { podNetwork: "routes" });
    expect(routed).toContain("routes of the cloud");
    expect(notes({ labels: { causeway_addons: "none" } })[0]).toContain("causeway_addons");
    expect(notes({ addons: "Own" })[0]).toContain("keeps the network of pods that it has");
  });
});

describe("labels about add-ons", () => {
  it.each<[Readonly<Record<string, string>>, string]>([
    [{ causeway_addons: "calico" }, "causeway_addons"],
    [{ coredns_tag: "1.9/../x" }, "coredns_tag"],
    [{ flannel_tag: "a b" }, "flannel_tag"],
    [{ container_infra_prefix: "http://x?y" }, "container_infra_prefix"],
    [{ flannel_network_cidr: "fd00::/48" }, "flannel_network_cidr"],
    [{ calico_ipv4pool: "10.1.0.0" }, "calico_ipv4pool"],
  ])("%j is refused by name", (labels, named) => expect(refusedLabel(labels)).toContain(named));

  it.each<[Readonly<Record<string, string>>, string[]]>([
    [{ kube_dashboard_enabled: "False", monitoring_enabled: "false", ingress_controller: "" }, []],
    [{ kube_dashboard_enabled: "true", ingress_controller: "nginx" }, ["ingress_controller", "kube_dashboard_enabled"]],
    [{ ingress_controller: "octavia" }, []],
    [{ flannel_backend: "vxlan", flannel_network_subnetlen: "24" }, []],
    [{ flannel_backend: "host-gw", flannel_network_subnetlen: "26" }, ["flannel_backend", "flannel_network_subnetlen"]],
    [{ flannel_tag: "v0.15.1" }, ["flannel_tag"]],
    [{ flannel_tag: "v0.28.4", coredns_tag: "1.11.1", container_infra_prefix: "r.example.org/m/" }, []],
    [{ cloud_provider_enabled: "true", cinder_csi_enabled: "true" }, []],
    [{ cloud_provider_enabled: "false", calico_tag: "v3.26.4" }, ["calico_tag", "cloud_provider_enabled"]],
  ])("%j has no effect but for %j", (labels, unused) => {
    expect(refusedLabel(labels)).toBeUndefined();
    expect(unusedLabels(labels)).toEqual(unused);
  });

  it("metrics of nodes and pods are what Causeway's own API server has, and others do not", () => {
    const wanted = { metrics_server_enabled: "true" };
    expect(unusedLabels(wanted, "Embedded")).toEqual([]);
    for (const runtime of ["Process", "Pods", undefined] as const)
      expect(unusedLabels(wanted, runtime)).toEqual(["metrics_server_enabled"]);
  });

  it("of templates from the field are accepted", () => {
    const { version, access } = labelSettings({
      kube_tag: "v1.34.4-rancher1-linux-amd64",
      hyperkube_prefix: "docker.io/rancher/",
      master_lb_allowed_cidrs: "0.0.0.0/0",
    });
    expect([version, access]).toEqual(["v1.34.4", []]);
    expect(refusedLabel({ master_lb_allowed_cidrs: "0.0.0.0/0" })).toBeUndefined();
    expect(refusedLabel({ master_lb_allowed_cidrs: "10.0.0.0/8" })).toContain("master_lb_allowed_cidrs");
  });
});
