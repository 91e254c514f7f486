import { describe, expect, test } from "vitest";
import type { KubeadmConfigSpec } from "@causeway/api";
import { cloudConfig, initCloudConfig } from "./cloud-config.ts";
import { additionalConfig } from "./container-linux-config.ts";
import { ignitionProblems } from "./ignition.ts";

interface Written {
  readonly path: string;
  readonly mode?: number;
  readonly contents: { readonly source: string; readonly compression?: string };
  readonly [field: string]: unknown;
}
interface Document {
  readonly ignition: object;
  readonly passwd: { users: object[] };
  readonly systemd: { units: { name: string; contents?: string; [field: string]: unknown }[] };
  readonly storage: { files: Written[]; [field: string]: unknown };
}

const join = {
  machine: "w-1",
  version: "v1.34.0",
  endpoint: "10.0.0.5:6443",
  token: "abcdef.0123456789abcdef",
  caCertHashes: ["sha256:00"],
};
const read = (spec: KubeadmConfigSpec, secrets = new Map<string, string>()): Document =>
  JSON.parse(cloudConfig({ format: "ignition", ...spec }, join, secrets)) as Document;
const textOf = ({ contents }: Written): string =>
  Buffer.from(contents.source.replace(/^data:;base64,/, ""), "base64").toString("utf8");
const file = (document: Document, path: string): Written => {
  const found = document.storage.files.find((one) => one.path === path);
  if (!found) throw new Error(`no file ${path}`);
  return found;
};

describe("an Ignition config", () => {
  test("is of version 2.3.0, and runs kubeadm once by a unit and a script", () => {
    const document = read({ verbosity: 5, preKubeadmCommands: ["swapoff -a"], postKubeadmCommands: ["touch /done"] });
    expect(document.ignition).toEqual({ version: "2.3.0" });
    expect(document.systemd.units).toMatchObject([{ name: "kubeadm.service", enabled: true }]);
    expect(document.systemd.units[0]?.contents).toContain("ConditionPathExists=/etc/kubeadm.yml\n");
    expect(file(document, "/etc/kubeadm.sh").mode).toBe(0o700);
    expect(textOf(file(document, "/etc/kubeadm.sh")).split("\n")).toEqual([
      "#!/bin/bash",
      "set -e",
      "swapoff -a",
      "kubeadm join --config /etc/kubeadm.yml --v 5",
      "mkdir -p /run/cluster-api && echo success > /run/cluster-api/bootstrap-success.complete",
      "mv /etc/kubeadm.yml /tmp/",
      "touch /done",
      "",
    ]);
    expect(textOf(file(document, "/etc/kubeadm.yml"))).toContain("kind: JoinConfiguration");
  });

  test("has the user's files, with owners, modes, encodings and contents of Secrets", () => {
    const document = read(
      {
        files: [
          { path: "/a", owner: "core:users", permissions: "0640", content: "tëxt" },
          { path: "/b", encoding: "base64", content: "aGk=\n", append: true },
          { path: "/c", encoding: "gzip+base64", content: "H4sI" },
          { path: "/d", contentFrom: { secret: { name: "s", key: "file" } } },
        ],
      },
      new Map([["s/file", "secret"]]),
    );
    const of = (path: string) => file(document, path);
    expect(of("/a")).toMatchObject({
      filesystem: "root",
      mode: 0o640,
      user: { name: "core" },
      group: { name: "users" },
    });
    expect(textOf(of("/a"))).toBe("tëxt");
    expect([textOf(of("/b")), of("/b")["append"], of("/b").mode]).toEqual(["hi", true, 0o644]);
    expect(of("/c").contents).toEqual({ source: "data:;base64,H4sI", compression: "gzip" });
    expect(textOf(of("/d"))).toBe("secret");
  });

  test("has users, and lets those with a password log in by it", () => {
    const document = read(
      {
        users: [
          {
            name: "core",
            groups: "sudo, docker",
            sudo: "ALL=(ALL) NOPASSWD:ALL",
            sshAuthorizedKeys: ["ssh-ed25519 A"],
          },
          { name: "jane", lockPassword: false, passwdFrom: { secret: { name: "s", key: "hash" } } },
        ],
      },
      new Map([["s/hash", "$6$x"]]),
    );
    expect(document.passwd.users).toEqual([
      { name: "core", groups: ["sudo", "docker"], sshAuthorizedKeys: ["ssh-ed25519 A"] },
      { name: "jane", passwordHash: "$6$x" },
    ]);
    expect(textOf(file(document, "/etc/sudoers.d/core"))).toBe("core ALL=(ALL) NOPASSWD:ALL\n");
    expect(textOf(file(document, "/etc/ssh/sshd_config"))).toContain("Match User jane\n");
  });

  test("sets up disks, mounts and time", () => {
    const { storage, systemd } = read({
      diskSetup: {
        partitions: [{ device: "/dev/vdb", layout: true, overwrite: true }],
        filesystems: [{ device: "/dev/vdb1", filesystem: "ext4", label: "etcd", extraOpts: ["-E", "x"] }],
      },
      mounts: [["etcd", "/var/lib/etcd", "noatime", "nofail"]],
      ntp: { servers: ["time.example.org"] },
    });
    expect(storage).toMatchObject({
      disks: [{ device: "/dev/vdb", wipeTable: true, partitions: [{}] }],
      filesystems: [
        { name: "etcd", mount: { device: "/dev/vdb1", format: "ext4", label: "etcd", wipeFilesystem: false } },
      ],
    });
    const [, ntpd, mount] = systemd.units;
    expect(ntpd).toEqual({ name: "ntpd.service", enabled: true });
    expect(mount?.name).toBe("var-lib-etcd.mount");
    expect(mount?.contents).toMatch(/What=\/dev\/vdb1\nWhere=\/var\/lib\/etcd\nOptions=noatime,nofail\n/);
  });

  test("of the first control plane has certificates and both configurations", () => {
    const pair = { certificate: "c", key: "k" };
    const text = initCloudConfig(
      { format: "ignition" },
      {
        cluster: {
          metadata: { name: "demo" },
          spec: { controlPlaneEndpoint: { host: "10.0.0.5", port: 6443 } },
        } as never,
        certificates: { ca: pair, etcd: pair, proxy: pair, sa: pair },
        machine: "a",
        version: "v1.34.0",
      },
      new Map(),
    );
    const document = JSON.parse(text) as Document;
    expect(file(document, "/etc/kubernetes/pki/ca.key").mode).toBe(0o600);
    const kubeadm = textOf(file(document, "/etc/kubeadm.yml"));
    expect(kubeadm).toMatch(/kind: ClusterConfiguration[\s\S]*\n---\n[\s\S]*kind: InitConfiguration/);
    expect(textOf(file(document, "/etc/kubeadm.sh"))).toContain("kubeadm init --config /etc/kubeadm.yml\n");
  });

  test("appends the additional config to its own sections", () => {
    const more = [
      "systemd:",
      "  units:",
      "  - name: kubeadm.service",
      "    dropins:",
      "    - name: 10-flatcar.conf",
      "      contents: |",
      "        [Unit]",
      "storage:",
      "  files:",
      "  - path: /etc/motd",
      "    mode: 0644",
      "    contents: {inline: hello}",
      "  - path: /opt/tool",
      '    mode: "0755"',
      "    contents: {remote: {url: https://x.example, verification: {hash: {function: sha512, sum: ab}}}}",
      "  links:",
      "  - {path: /etc/a, target: /etc/b, filesystem: root}",
    ].join("\n");
    const document = read({ ignition: { containerLinuxConfig: { additionalConfig: more, strict: true } } });
    expect(document.systemd.units.map(({ name }) => name)).toEqual(["kubeadm.service", "kubeadm.service"]);
    expect(document.systemd.units[1]?.["dropins"]).toEqual([{ name: "10-flatcar.conf", contents: "[Unit]\n" }]);
    expect([file(document, "/etc/motd").mode, textOf(file(document, "/etc/motd"))]).toEqual([0o644, "hello"]);
    expect(file(document, "/opt/tool")).toMatchObject({
      mode: 0o755,
      contents: { source: "https://x.example", verification: { hash: "sha512-ab" } },
    });
    expect(document.storage["links"]).toEqual([{ path: "/etc/a", target: "/etc/b", filesystem: "root" }]);
  });
});

describe("an additional config", () => {
  test.each<[string, boolean, RegExp]>([
    ["a: [", false, /not YAML/],
    ["text", false, /not a mapping/],
    ["a: &a [x]\nb: *a", false, /not YAML|not supported/],
    ["etcd: {}", false, /section etcd is not supported/],
    ["constructor: {}", false, /section constructor is not supported/],
    ["storage: []", false, /storage is not a mapping/],
    ["storage: {files: {}}", false, /storage\.files is not a list/],
    ["storage: {files: [{path: a}]}", false, /no absolute path/],
    ["storage: {files: [{path: /a, mode: 9}, {path: /b, mode: x}]}", false, /files\[1\]\.mode is not a mode/],
    ["systemd: {units: [{name: a, what: b}]}", true, /systemd\.units\[0\]\.what is not known/],
  ])("%j is refused (strict: %s)", (text, strict, expected) =>
    expect(() => additionalConfig(text, strict)).toThrow(expected),
  );
  test("may have fields that are not known, unless it is strict", () => {
    expect(additionalConfig("systemd: {units: [{name: a, what: b}]}", false)).toEqual({
      systemd: { units: [{ name: "a" }] },
    });
  });
});

test.each<[KubeadmConfigSpec, RegExp | undefined]>([
  [{ files: [{ path: "/a", content: "x" }] }, undefined],
  [{ bootCommands: ["x"] }, /bootCommands is for format cloud-config only/],
  [{ users: [{ name: "a", inactive: true }] }, /users\[0\]\.inactive/],
  [{ files: [{ path: "/a", encoding: "gzip", content: "x" }] }, /files\[0\]\.encoding gzip/],
  [{ diskSetup: { partitions: [{ device: "d", tableType: "gpt" }] } }, /partitions\[0\]\.tableType/],
  [{ diskSetup: { filesystems: [{ device: "d", filesystem: "ext4" }] } }, /filesystems\[0\]\.label is required/],
  [{ mounts: [["data", "/data"]] }, /no file system of diskSetup has the label "data"/],
  [
    { ignition: { containerLinuxConfig: { additionalConfig: "locksmith: {}" } } },
    /additionalConfig: section locksmith is not supported/,
  ],
])("a setting that Ignition cannot express is named: %j", (spec, expected) => {
  const problems = ignitionProblems({ format: "ignition", ...spec });
  if (expected) expect(problems.join("; ")).toMatch(expected);
  else expect(problems).toEqual([]);
});
