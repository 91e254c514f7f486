import { describe, expect, test } from "vitest";
import { joinConfiguration } from "./join-configuration.ts";

const token = "abcdef.0123456789abcdef";
const path = "/run/kubeadm/kubeadm-join-config.yaml";
const boot = (text: string, command = `kubeadm join --config ${path} && echo done`) => ({
  files: new Map([[path, text]]),
  commands: ["echo before", command],
});
const discovery = `discovery: {bootstrapToken: {apiServerEndpoint: "10.0.0.1:6443", token: ${token}, caCertHashes: ["sha256:ab"]}}`;
const base = `kind: JoinConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\n${discovery}\n`;
const registration = (args: string) => `${base}nodeRegistration:\n  name: worker-1\n  kubeletExtraArgs:\n${args}`;

describe("the join configuration", () => {
  test.each([
    ["v1beta4's list", "  - {name: cloud-provider, value: external}\n  - {name: node-labels, value: 'a=b,c=d=e,f'}\n"],
    ["v1beta3's map", "    cloud-provider: external\n    node-labels: a=b,c=d=e,f\n"],
  ])("takes kubelet arguments in %s", (_, args) => {
    expect(joinConfiguration(boot(registration(args)))).toMatchObject({
      nodeName: "worker-1",
      token,
      server: "https://10.0.0.1:6443",
      caCertHashes: ["sha256:ab"],
      labels: { a: "b", c: "d=e" },
      kubeletArgs: { "cloud-provider": "external" },
    });
  });

  test.each([
    ["quotes around the id", "openstack:///'ID'", "openstack:///ID"],
    ["double quotes around the id", 'openstack:///"ID"', "openstack:///ID"],
    ["no quotes", "openstack:///ID", "openstack:///ID"],
    ["a region, and quotes", "openstack://RegionOne/'ID'", "openstack://RegionOne/ID"],
    ["a value quoted for YAML", "'openstack:///ID'", "openstack:///ID"],
    ["a value quoted for YAML twice", "'openstack:///''ID'''", "openstack:///ID"],
    ["a value quoted for YAML and for the service", `"'openstack:///ID'"`, "openstack:///ID"],
    ["an escaped quote", "openstack:///\\'ID", "openstack:///'ID"],
    ["a space, behind which the value ends", "openstack:///ID --v=2 more", "openstack:///ID"],
  ])("loses quotes in a kubelet argument as the kubelet's service does: %s", (_, value, expected) => {
    for (const args of [`    provider-id: ${value}\n`, `  - name: provider-id\n    value: ${value}\n`]) {
      expect(joinConfiguration(boot(registration(args))).kubeletArgs["provider-id"]).toBe(expected);
    }
  });

  test.each([
    [`--config "${path}"`, true],
    [`--config='${path}' -v 5`, true],
    [`-v 5 --config   ${path}`, true],
    ["--config=", false],
  ])("is found in a command with %s", (options, isFound) => {
    const read = () => joinConfiguration(boot(base, `kubeadm join ${options}`)).token;
    if (isFound) expect(read()).toBe(token);
    else expect(read).toThrow(expect.objectContaining({ code: "MACHINE_NOT_JOINING" }));
  });

  test("finds its document among others and keeps known taints", () => {
    const taints =
      "nodeRegistration: {taints: [{key: a, effect: NoSchedule}, {key: b, value: c, effect: NoExecute}, {key: d, effect: Odd}]}\n";
    const text = `---\nkind: ClusterConfiguration\n---\n${base}${taints}`;
    const { nodeName, taints: read } = joinConfiguration(boot(text));
    expect(nodeName).toBeUndefined();
    expect(read).toEqual([
      { key: "a", effect: "NoSchedule" },
      { key: "b", value: "c", effect: "NoExecute" },
    ]);
  });

  test("a cluster without a pinned CA is joined only with unsafeSkipCAVerification", () => {
    const text = base.replace('caCertHashes: ["sha256:ab"]', "unsafeSkipCAVerification: true");
    expect(joinConfiguration(boot(text)).caCertHashes).toEqual([]);
  });

  test.each([
    ["no join command", boot(base, "echo nothing"), "MACHINE_NOT_JOINING"],
    ["a file that the user data does not write", boot(base, "kubeadm join --config /other"), "MACHINE_NOT_JOINING"],
    ["another kind", boot("kind: InitConfiguration\n"), "MACHINE_JOIN_INVALID"],
    ["no token", boot(base.replace(`token: ${token}, `, "")), "MACHINE_JOIN_INVALID"],
    ["no endpoint", boot(base.replace('apiServerEndpoint: "10.0.0.1:6443", ', "")), "MACHINE_JOIN_INVALID"],
    ["a token of another form", boot(base.replace(token, "nonsense")), "MACHINE_JOIN_INVALID"],
    ["no pin", boot(base.replace(', caCertHashes: ["sha256:ab"]', "")), "MACHINE_JOIN_INVALID"],
    ["broken YAML", boot("kind: [\n"), "MACHINE_JOIN_INVALID"],
  ])("%s is said", (_, plan, code) => {
    expect(() => joinConfiguration(plan)).toThrow(expect.objectContaining({ code }));
  });
});
