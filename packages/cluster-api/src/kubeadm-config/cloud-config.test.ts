import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import type { KubeadmConfigSpec } from "@causeway/api";
import { cloudConfig } from "./cloud-config.ts";
import { joinConfiguration, type JoinFacts } from "./join-configuration.ts";

const facts: JoinFacts = {
  machine: "w-1",
  version: "v1.34.0",
  endpoint: "10.0.0.5:6443",
  token: "abcdef.0123456789abcdef",
  caCertHashes: ["sha256:00"],
};
const uninitialized = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" };

interface Document {
  write_files: Record<string, unknown>[];
  runcmd: string[];
  [field: string]: unknown;
}
const read = (spec: KubeadmConfigSpec, secrets = new Map<string, string>()): Document =>
  parse(cloudConfig(spec, facts, secrets), { version: "1.1" }) as Document;

describe("certificates of a control-plane machine", () => {
  const certificates = {
    ca: { certificate: "ca", key: "ca-key" },
    etcd: { certificate: "etcd", key: "etcd-key" },
    proxy: { certificate: "proxy", key: "proxy-key" },
    sa: { certificate: "sa", key: "sa-key" },
    "apiserver-etcd-client": { certificate: "client", key: "client-key" },
  };
  const files = (spec: KubeadmConfigSpec) => {
    const text = cloudConfig(spec, { ...facts, isControlPlane: true, certificates }, new Map());
    const { write_files } = parse(text, { version: "1.1" }) as Document;
    return write_files.flatMap(({ path, content }) => (String(path).startsWith("/run") ? [] : [[path, content]]));
  };
  test("are where kubeadm reads them, in its folder of certificates", () => {
    expect(files({ clusterConfiguration: { certificatesDir: "/pki" } })).toEqual([
      ["/pki/ca.crt", "ca"],
      ["/pki/ca.key", "ca-key"],
      ["/pki/etcd/ca.crt", "etcd"],
      ["/pki/etcd/ca.key", "etcd-key"],
      ["/pki/front-proxy-ca.crt", "proxy"],
      ["/pki/front-proxy-ca.key", "proxy-key"],
      ["/pki/sa.pub", "sa"],
      ["/pki/sa.key", "sa-key"],
    ]);
  });
  test("of external etcd are where the configuration has them, without the authority's key", () => {
    const external = { endpoints: ["https://e"], caFile: "/e/ca.crt", certFile: "/e/c.crt", keyFile: "/e/c.key" };
    expect(files({ clusterConfiguration: { etcd: { external } } }).slice(2, 5)).toEqual([
      ["/e/ca.crt", "etcd"],
      ["/e/c.crt", "client"],
      ["/e/c.key", "client-key"],
    ]);
  });
});

describe("the join configuration", () => {
  test("finds the cluster by token and by the hash of its root", () => {
    expect(joinConfiguration(undefined, facts)).toEqual({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "JoinConfiguration",
      discovery: {
        bootstrapToken: { apiServerEndpoint: "10.0.0.5:6443", token: facts.token, caCertHashes: ["sha256:00"] },
      },
      nodeRegistration: { name: "w-1", taints: [uninitialized] },
    });
  });
  test("keeps the user's taints next to ours", () => {
    const taints = [{ key: "gpu", effect: "NoSchedule" }];
    expect(joinConfiguration({ nodeRegistration: { taints } }, facts)).toHaveProperty("nodeRegistration.taints", [
      ...taints,
      uninitialized,
    ]);
  });
  test("has no taints at all when the user wants none", () => {
    expect(joinConfiguration({ nodeRegistration: { taints: [] } }, facts)).toHaveProperty(
      "nodeRegistration.taints",
      [],
    );
  });
  const args = {
    nodeRegistration: { kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }] },
    timeouts: { discoverySeconds: 60 },
  };
  test("from 1.31 on is v1beta4: arguments as a list, timeouts of their own", () => {
    expect(joinConfiguration(args, facts)).toMatchObject({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      nodeRegistration: { kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }] },
      timeouts: { discovery: "60s" },
    });
  });
  test("before 1.31 is v1beta3: arguments as a map, the timeout in discovery", () => {
    const old = joinConfiguration(args, { ...facts, version: "v1.30.4" });
    expect(old).toMatchObject({
      apiVersion: "kubeadm.k8s.io/v1beta3",
      discovery: { timeout: "60s" },
      nodeRegistration: { kubeletExtraArgs: { "cloud-provider": "external" } },
    });
    expect(old).not.toHaveProperty("timeouts");
  });
});

describe("cloud-config", () => {
  test("is a jinja template", () => {
    expect(cloudConfig({}, facts, new Map())).toMatch(/^## template: jinja\n#cloud-config\n/);
  });
  test("runs the user's commands around the join, which leaves the sentinel file", () => {
    const { runcmd } = read({ preKubeadmCommands: ["before"], postKubeadmCommands: ["after"], verbosity: 5 });
    expect(runcmd).toEqual([
      "before",
      "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml --v 5 && echo success > /run/cluster-api/bootstrap-success.complete",
      "after",
    ]);
  });
  test("quotes what YAML 1.1 would take for a number or a boolean", () => {
    const text = cloudConfig({ files: [{ path: "/a", permissions: "0644", content: "yes" }] }, facts, new Map());
    expect(text).toContain('permissions: "0644"');
    expect(text).toContain('content: "yes"');
  });
  test("takes contents and passwords from Secrets", () => {
    const spec: KubeadmConfigSpec = {
      files: [{ path: "/a", contentFrom: { secret: { name: "s", key: "file" } } }],
      users: [
        {
          name: "jane",
          passwdFrom: { secret: { name: "s", key: "hash" } },
          lockPassword: false,
          sshAuthorizedKeys: ["ssh-ed25519 A"],
        },
      ],
    };
    const document = read(
      spec,
      new Map([
        ["s/file", "from a secret"],
        ["s/hash", "$6$x"],
      ]),
    );
    expect(document.write_files[0]).toEqual({ path: "/a", content: "from a secret" });
    expect(document["users"]).toEqual([
      { name: "jane", lock_passwd: false, passwd: "$6$x", ssh_authorized_keys: ["ssh-ed25519 A"] },
    ]);
  });
  test("sets up disks, mounts, boot commands and time", () => {
    const document = read({
      bootCommands: ["modprobe br_netfilter"],
      diskSetup: {
        partitions: [{ device: "/dev/vdb", layout: true, overwrite: false, tableType: "gpt" }],
        filesystems: [{ device: "/dev/vdb", filesystem: "ext4", label: "etcd", replaceFS: "ntfs" }],
      },
      mounts: [["LABEL=etcd", "/var/lib/etcd"]],
      ntp: { servers: ["time.example.org"] },
    });
    expect(document).toMatchObject({
      bootcmd: ["modprobe br_netfilter"],
      disk_setup: { "/dev/vdb": { layout: true, overwrite: false, table_type: "gpt" } },
      fs_setup: [{ device: "/dev/vdb", filesystem: "ext4", label: "etcd", replace_fs: "ntfs" }],
      mounts: [["LABEL=etcd", "/var/lib/etcd"]],
      ntp: { enabled: true, servers: ["time.example.org"] },
    });
  });
});
