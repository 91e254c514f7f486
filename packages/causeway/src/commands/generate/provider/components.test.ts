import { describe, expect, test } from "vitest";
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
  test("have CRDs whose versions the webhook converts, with the authority of its certificate", () => {
    for (const crd of all("CustomResourceDefinition")) {
      expect(crd).toMatchObject({
        metadata: { annotations: { "cert-manager.io/inject-ca-from": expect.stringContaining("serving-cert") } },
        spec: { conversion: { webhook: { clientConfig: { service: { path: "/convert" } } } } },
      });
    }
  });
});
