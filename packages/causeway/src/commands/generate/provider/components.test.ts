import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { yamlOf } from "./action.ts";
import { clusterTemplates } from "./cluster-templates.ts";
import { componentsOf, releases } from "./components.ts";

type Json = { [key: string]: unknown };

describe.each(releases.map((release) => [release.label, release] as const))("the components of %s", (_, release) => {
  const objects = componentsOf(release, "causeway:1") as Json[];
  const all = (kind: string) => objects.filter((object) => object["kind"] === kind);

  test("are in one Namespace, with a container named manager, as clusterctl requires", () => {
    expect(all("Namespace")).toHaveLength(1);
    expect(all("Deployment")[0]).toMatchObject({
      spec: { template: { spec: { containers: [{ name: "manager", image: "causeway:1" }] } } },
    });
    const names = objects.map(({ metadata }) => (metadata as Json)["namespace"]).filter((name) => name !== undefined);
    expect(new Set(names).size).toBe(1);
  });
  test("have the provider's label on every object", () => {
    for (const { metadata } of objects) {
      expect(metadata).toHaveProperty(["labels", "cluster.x-k8s.io/provider"], release.label);
    }
  });
  test("have CRDs of several versions that the webhook converts, with the authority of its certificate", () => {
    const several = all("CustomResourceDefinition").filter(
      ({ spec }) => ((spec as Json)["versions"] as Json[]).length > 1,
    );
    expect(several.length).toBeGreaterThan(0);
    for (const crd of several) {
      expect(crd).toMatchObject({
        metadata: { annotations: { "cert-manager.io/inject-ca-from": expect.stringContaining("serving-cert") } },
        spec: { conversion: { webhook: { clientConfig: { service: { path: "/convert" } } } } },
      });
    }
  });
  test.each([
    ["ValidatingWebhookConfiguration", "/validate", ["bootstrap-kubeadm"]],
    ["MutatingWebhookConfiguration", "/mutate", ["bootstrap-kubeadm", "infrastructure-openstack"]],
  ])("have a %s for the kinds that need one, at the same service", (kind, path, without) => {
    const expected = without.includes(release.label) ? 0 : 1;
    const found = all(kind);
    expect(found).toHaveLength(expected);
    const served = new Set(
      all("CustomResourceDefinition").map(({ spec }) => ((spec as Json)["names"] as Json)["plural"]),
    );
    for (const { metadata, webhooks } of found) {
      expect(metadata).toMatchObject({
        annotations: { "cert-manager.io/inject-ca-from": expect.stringContaining("serving-cert") },
      });
      for (const { clientConfig, rules } of webhooks as { clientConfig: Json; rules: { resources: string[] }[] }[]) {
        expect(clientConfig).toMatchObject({ service: { path } });
        const judged = rules.flatMap(({ resources }) => resources.map((one) => one.split("/")[0]));
        expect(judged.filter((one) => !served.has(one))).toEqual([]);
      }
    }
  });
});

describe.each(Object.entries(clusterTemplates))("the cluster template %s", (_, objects) => {
  const values: Readonly<Record<string, string>> = { CONTROL_PLANE_MACHINE_COUNT: "3", WORKER_MACHINE_COUNT: "2" };
  const text = yamlOf(objects).replaceAll(
    /\$\{(\w+)(?::=([^}]*))?\}/g,
    (__, name: string, otherwise?: string) => values[name] ?? otherwise ?? "x",
  );

  test("is YAML once its variables are filled in, with numbers where numbers belong", () => {
    const made = parseAllDocuments(text).map((one) => one.toJS() as Json);
    expect(made).toHaveLength(objects.length);
    const replicas = JSON.stringify(made).match(/"replicas":("[^"]*"|\d+)/g) ?? [];
    expect(replicas.every((one) => /\d$/.test(one))).toBe(true);
  });
  test("refers only to objects that it has, or that its ClusterClass has", () => {
    const made = parseAllDocuments(text).map((one) => one.toJS() as Json);
    const has = new Set(made.map(({ kind, metadata }) => `${String(kind)}/${String((metadata as Json)["name"])}`));
    const references = [...JSON.stringify(made).matchAll(/"kind":"(\w+)","name":"([\w-]+)"/g)].map(
      ([, kind, name]) => `${kind}/${name}`,
    );
    expect(references.filter((one) => !has.has(one))).toEqual([]);
  });
});
