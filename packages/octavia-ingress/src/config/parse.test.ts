import { expect, test } from "vitest";
import { classParameters } from "../ingress/parameters.ts";
import { readConfig } from "./parse.ts";

const FILE = `
cluster-name: prod
kubernetes:
  kubeconfig: /etc/admin.conf
openstack:
  auth-url: https://identity.example.org/v3
  username: demo
  password: 'a"b\\c'
  project-name: shop
  tenant: shop
octavia:
  provider: amphora
  subnet-id: s1
  manage-security-groups: true
  floating-network-id: n1
  flavor-id: f1
  provider-requires-serial-api-calls: true
  color: red
`;

test("the parser of the controller's file reads upstream's file, and names keys that it does not know", () => {
  const { config, kubernetes, cloudConf, warnings } = readConfig(FILE);
  expect(config).toEqual({
    clusterName: "prod",
    balancer: { provider: "amphora", subnetId: "s1", floatingNetworkId: "n1", flavorId: "f1", serial: true },
    manageSecurityGroups: true,
  });
  expect(kubernetes).toEqual({ host: undefined, kubeconfig: "/etc/admin.conf" });
  expect(cloudConf).toContain('tenant-name = "shop"');
  expect(cloudConf).toContain('password = "a\\"b\\\\c"');
  expect(warnings).toEqual(["unknown key octavia.color", "unknown key openstack.tenant"]);
});

test("the parser of the controller's file reads where members are", () => {
  const of = (members: string) =>
    readConfig(`cluster-name: c\noctavia: {subnet-id: s${members}}`).config.balancer.members;
  expect([of(""), of(", members: nodes"), of(", members: pods")]).toEqual([undefined, "nodes", "pods"]);
});

test("a class's parameters say where members are, and a wrong place is refused", () => {
  const defaults = {
    provider: undefined,
    subnetId: "s",
    floatingNetworkId: undefined,
    flavorId: undefined,
    serial: false,
  };
  const of = (data: Record<string, string>) =>
    classParameters(
      { ...defaults, members: "nodes" },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data },
    );
  expect(of({}).balancer.members).toBe("nodes");
  expect(of({ members: "pods" })).toMatchObject({ balancer: { members: "pods" }, problem: undefined });
  expect(of({ members: "vms" }).problem).toBe("members is vms; it may be nodes or pods");
});

test.each([
  ["no cluster-name", "octavia: { subnet-id: s }", "cluster-name is missing"],
  ["no subnet", "cluster-name: c", "octavia.subnet-id is missing"],
  ["a list", "[1]", "the file is not a mapping"],
  [
    "a value of two lines",
    '{cluster-name: c, octavia: {subnet-id: s}, openstack: {password: "a\\nb"}}',
    "line of text",
  ],
  ["members at another place", "cluster-name: c\noctavia: {subnet-id: s, members: vms}", "octavia.members is vms"],
  ["broken YAML", "{", "not YAML"],
])("the parser of the controller's file refuses %s", (_, yaml, why) => {
  expect(() => readConfig(yaml)).toThrow(why);
});
