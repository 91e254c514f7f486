import { OPENSTACK_RELEASES, OPENSTACK_SERVICES, type OpenStackDeployment } from "@causeway/api";
import type { ConfigMap, KubeObject, PodTemplateSpec } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { resolveCatalogue } from "../catalogue/index.ts";
import { tlsPortOf } from "../config/index.ts";
import { completed } from "../credentials/new-values.ts";
import { desiredOf } from "./desired.ts";

type Release = (typeof OPENSTACK_RELEASES)[number]["release"];
const pair = (name: string) => ({ certificate: `certificate of ${name}`, key: `key of ${name}` });

const OWN: Partial<OpenStackDeployment["spec"]> = { tls: { from: "Own" } };

/** `changed`: another authority, or another certificate of a component. */
function desire(release: Release = "2025.1", more = OWN, changed: { authority?: string; of?: string } = {}) {
  const deployment: OpenStackDeployment = {
    apiVersion: "openstack.causeway.dev/v1alpha1",
    kind: "OpenStackDeployment",
    metadata: { name: "cloud", namespace: "openstack", uid: "u" },
    spec: {
      release,
      region: "RegionOne",
      domain: "cloud.example.org",
      nodeGroups: [{ name: "all", nodeSelector: { role: "all" }, roles: ["Control", "Network", "Compute"] }],
      services: OPENSTACK_SERVICES.map((name) => ({ name, enabled: true })),
      canary: { image: "cirros", flavor: "tiny" },
      ...more,
    },
  };
  const { components } = resolveCatalogue(deployment.spec);
  const servers = components.filter((component) => tlsPortOf(component)).map(({ name }) => name);
  const { authority: authorities = "the authority", of } = changed;
  const pairs = Object.fromEntries(servers.map((name) => [name, pair(name === of ? "another" : name)]));
  const tls = { authorities, pairs };
  const credentials = completed({ generation: 0, accounts: [0], values }, components);
  values = { ...credentials.values };
  const desired = desiredOf({
    deployment,
    credentials,
    computeNodes: ["one"],
    messagesOf: release,
    ...(deployment.spec.tls ? { tls } : {}),
  });
  const workloads = [...desired.workloads.values()].flat();
  return { ...desired, servers, workloads, all: [...desired.foundation, ...workloads].map(({ object }) => object) };
}

/** The same passwords in each call, so that results can be compared. */
let values: Record<string, string> = {};

type Desired = ReturnType<typeof desire>;
const podOf = ({ workloads }: Desired, component: string): PodTemplateSpec["spec"] => {
  const found = workloads.find((each) => each.component === component)?.object as
    | (KubeObject & { spec: { template: PodTemplateSpec } })
    | undefined;
  if (!found) throw new Error(`no workload of ${component}`);
  return found.spec.template.spec;
};
const openOf = ({ all }: Desired): ConfigMap[] =>
  all.filter((object): object is ConfigMap => object.kind === "ConfigMap");
/** Sections of a file, by name. */
const sectionsOf = (text = ""): [string, string][] =>
  text
    .split(/^\[/m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf("]")), part]);
/** The Secrets whose keys of certificates a pod has. */
const keysIn = (pod: PodTemplateSpec["spec"]): string[] =>
  [...JSON.stringify(pod.volumes ?? []).matchAll(/"name":"(cloud-[a-z0-9-]+-tls-[0-9a-f]{10})"/g)].map(
    ([, name = ""]) => name,
  );

describe.each(OPENSTACK_RELEASES.map(({ release }) => release))("TLS of the APIs in %s", (release) => {
  const desired = desire(release);

  test("leaves no address of an API inside the cluster with plain HTTP, and no unknown option", () => {
    expect(desired.problems).toEqual([]);
    const plain = JSON.stringify(desired.all).match(/http:\/\/[a-z0-9-]+\.openstack\.svc[^"\\\s]*/g);
    expect(plain).toBeNull();
    expect(JSON.stringify(openOf(desired))).toContain("https://cloud-keystone-api.openstack.svc:5000");
  });

  test("names the authority in every section that has an address of Keystone", () => {
    const sections = openOf(desired).flatMap(({ metadata, data = {} }) =>
      sectionsOf(data["service.conf"]).map(([name, text]) => ({
        name: `${metadata.name} [${name}]`,
        hasAddress: /^auth_url = https:/m.test(text),
        isTold: /^ca_?file = \/etc\/openstack-tls\/ca\.crt$/m.test(text),
      })),
    );
    // A trustee's session takes what [clients_keystone] says.
    const clients = sections.filter(({ name, hasAddress }) => hasAddress && !name.endsWith(" [trustee]"));
    expect(sections.find(({ name }) => /-heat-etc-.* \[clients_keystone\]$/.test(name))?.isTold).toBe(true);
    expect(clients.length).toBeGreaterThan(15);
    expect(clients.filter(({ isTold }) => !isTold).map(({ name }) => name)).toEqual([]);
  });

  test("gives each API its own key and no other pod any, and its probes ask over TLS", () => {
    for (const { component = "" } of desired.workloads) {
      const pod = podOf(desired, component);
      const isServer = desired.servers.includes(component);
      expect(
        keysIn(pod).map((name) => name.slice("cloud-".length, -"-tls-0123456789".length)),
        component,
      ).toEqual(isServer ? [component] : []);
      const {
        command = [],
        readinessProbe,
        ...rest
      } = pod.containers[0] as {
        command?: string[];
        readinessProbe?: { httpGet?: { scheme: string; port: number } };
        env?: { name: string; value?: string }[];
      };
      expect(command, component).not.toContain("--http-socket");
      if (isServer && readinessProbe?.httpGet) expect(readinessProbe.httpGet.scheme, component).toBe("HTTPS");
      if (/-register$|^horizon$|^canary$/.test(component))
        expect(rest.env, component).toContainEqual({ name: "SSL_CERT_FILE", value: "/etc/openstack-tls/ca.crt" });
    }
    expect(desired.servers.length).toBeGreaterThan(12);
  });
});

test("a program serves TLS with the certificate in front of uWSGI, and Neutron before 2025.1 by its own options", () => {
  const { command } = podOf(desire(), "keystone-api").containers[0] as { command: string[] };
  const at = command.indexOf("/programs/front.py");
  const certificate = ["/etc/openstack-tls/tls.crt", "/etc/openstack-tls/tls.key"];
  expect(command.slice(at + 1, at + 5)).toEqual(["5000", ...certificate, "uwsgi"]);
  expect(command[command.indexOf("--socket") + 1]).toBe("/tmp/api.sock");
  const fileOf = (desired: Desired, start: string) =>
    openOf(desired).find(({ metadata }) => metadata.name.startsWith(start))?.data?.["service.conf"] ?? "";
  expect(fileOf(desire("2024.1"), "cloud-neutron-etc-")).toContain("use_ssl = true");
  expect(fileOf(desire("2025.1"), "cloud-neutron-etc-")).not.toContain("use_ssl");
  expect(fileOf(desire("2025.1"), "cloud-nova-etc-")).toContain("ssl_only = true");
});

test("without TLS nothing of it is rendered", () => {
  const desired = desire("2025.1", {});
  const text = JSON.stringify(desired.all.filter(({ kind }) => kind !== "ConfigMap" && kind !== "Secret"));
  expect(text).not.toMatch(/openstack-tls|SSL_CERT_FILE/);
  expect(JSON.stringify(openOf(desired))).not.toMatch(/openstack-tls|cafile = /);
  const { command } = podOf(desired, "keystone-api").containers[0] as { command: string[] };
  const at = command.indexOf("/programs/front.py");
  expect(command.slice(at + 1, at + 5)).toEqual(["5000", "-", "-", "uwsgi"]);
});

test("another certificate rolls the pods of its API alone, another authority all that trust it, and neither a Job", () => {
  const rolled = (changed: { authority?: string; of?: string }) => {
    const texts = (desired: Desired) =>
      new Map(
        desired.workloads.map(({ component = "", object }) => [
          component,
          [object.kind, object.metadata.name, JSON.stringify(podOf(desired, component))],
        ]),
      );
    const before = texts(desire());
    return (
      [...texts(desire("2025.1", OWN, changed))]
        // A Job is written once for each name.
        .filter(([name, [kind, object, text]]) =>
          kind === "Job" ? object !== before.get(name)?.[1] : text !== before.get(name)?.[2],
        )
        .map(([name]) => name)
    );
  };
  expect(rolled({})).toEqual([]);
  expect(rolled({ of: "glance-api" })).toEqual(["glance-api"]);
  const all = rolled({ authority: "another" });
  expect(all).toEqual(expect.arrayContaining(["keystone-api", "nova-compute", "horizon", "cinder-volume"]));
  expect(all.filter((name) => /^(?:mariadb|rabbitmq|memcached|ovn|openvswitch|libvirt)/.test(name))).toEqual([]);
  expect(all.filter((name) => /-(?:init|sync|register)$/.test(name))).toEqual([]);
});
