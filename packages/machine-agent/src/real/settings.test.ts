import { expect, test } from "vitest";
import { parse } from "yaml";
import type { JoinConfiguration } from "../join-configuration.ts";
import { kubeletArguments } from "./image-machine.ts";
import {
  containerdConfiguration,
  kubeletConfiguration,
  kubeletDropIn,
  kubeletFlags,
  networkTemplate,
  paths,
} from "./settings.ts";

const machine = {
  id: "6c1f2a64-0f0e-4c3e-9a51-0d9f1e0d7a10",
  name: "worker-1",
  userData: "",
  addresses: [],
  resources: { cpu: 1, memoryMiB: 2048, diskGiB: 20 },
};

function joining(kubeletArgs: Record<string, string>, taints: JoinConfiguration["taints"] = []): JoinConfiguration {
  return {
    nodeName: "worker-1",
    token: "abcdef.0123456789abcdef",
    server: "https://10.0.0.1:6443",
    caCertHashes: [],
    taints,
    labels: {},
    kubeletArgs,
  };
}

test("a Node offers what its flavor promises: the rest of the host is reserved", () => {
  const written = parse(kubeletConfiguration(machine, joining({}), { cpu: 4, memoryMiB: 8192 })) as {
    kubeReserved: unknown;
  };
  expect(written.kubeReserved).toEqual({ cpu: "3000m", memory: "6144Mi" });
  const small = parse(kubeletConfiguration(machine, joining({}), { cpu: 1, memoryMiB: 1024 })) as {
    kubeReserved: unknown;
  };
  expect(small.kubeReserved).toEqual({ cpu: "0m", memory: "0Mi" });
});

test("taints and the address of the cluster's DNS are in the configuration", () => {
  const taint = { key: "dedicated", value: "x", effect: "NoSchedule" as const };
  const join = joining({ "cluster-dns": "10.128.0.10" }, [taint]);
  const written = parse(kubeletConfiguration(machine, join, { cpu: 1, memoryMiB: 1024 })) as Record<string, unknown>;
  expect([written["registerWithTaints"], written["clusterDNS"]]).toEqual([[taint], ["10.128.0.10"]]);
  expect(written["cgroupRoot"]).toBe(`/causeway-machines/${machine.id}`);
});

test("kubeadm's configuration of the kubelet is completed with what the machine decides, and nothing more", () => {
  const written = parse(kubeletDropIn(machine, { cpu: 4, memoryMiB: 8192 })) as Record<string, unknown>;
  expect(written).toMatchObject({ cgroupDriver: "cgroupfs", cgroupRoot: `/causeway-machines/${machine.id}` });
  for (const ofKubeadm of ["authentication", "clusterDNS", "rotateCertificates", "staticPodPath"])
    expect(written).not.toHaveProperty(ofKubeadm);
});

test("a machine of an image starts its kubelet with the flags that kubeadm wrote, split as systemd does", () => {
  const file = `KUBELET_KUBEADM_ARGS="--hostname-override=cp-1 --provider-id=openstack:///'${machine.id}'"\n`;
  expect(kubeletArguments(file)).toEqual([
    "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
    "--kubeconfig=/etc/kubernetes/kubelet.conf",
    "--config=/var/lib/kubelet/config.yaml",
    "--config-dir=/var/lib/kubelet/config.d",
    "--hostname-override=cp-1",
    `--provider-id=openstack:///${machine.id}`,
  ]);
  expect(kubeletArguments("")).toHaveLength(4);
});

test("flags of the join configuration are passed on, except those that the machine decides", () => {
  const flags = kubeletFlags(
    "worker-1",
    joining({ "cloud-provider": "external", "node-labels": "a=b", kubeconfig: "/tmp/x", "root-dir": "/" }),
  );
  expect(flags).toEqual([
    `--config=${paths.kubeletConfiguration}`,
    `--kubeconfig=${paths.kubeconfig}`,
    "--hostname-override=worker-1",
    "--cloud-provider=external",
    "--node-labels=a=b",
  ]);
});

test("containerd has no pod network where an add-on makes it", () => {
  expect(containerdConfiguration("addon")).not.toContain("conf_template");
  expect(containerdConfiguration("addon")).toContain('conf_dir = "/etc/cni/net.d"\n  [plugins');
});

test("containerd makes the pod network from the Node's podCIDR", () => {
  expect(containerdConfiguration("routes")).toContain(`conf_template = "${paths.networkTemplate}"`);
  expect(networkTemplate()).toContain('"subnet": "{{.PodCIDR}}"');
  expect(JSON.parse(networkTemplate())).toHaveProperty("plugins");
});
