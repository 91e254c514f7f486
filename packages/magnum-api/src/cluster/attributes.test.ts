import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MagnumCluster } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { templateFields } from "../resources/template-attributes.ts";
import { attributeRules, unusedAttributes } from "./attributes.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/magnum-api.md"), "utf8");
/** What a template has that is no setting of a cluster. */
const ofTheRow = ["uuid", "name", "links", "project_id", "user_id", "created_at", "updated_at"];

const unused = (template: object, more: object = {}) =>
  unusedAttributes({ spec: { template, ...more } } as unknown as MagnumCluster);

describe("attributes of templates", () => {
  it("are all in the table of rules, and those that have no effect in the one of the reference", () => {
    const rules = Object.values(attributeRules);
    const known = rules.map(({ name }) => name);
    expect(known.toSorted()).toEqual(
      Object.keys(templateFields)
        .filter((name) => !ofTheRow.includes(name))
        .toSorted(),
    );
    const rows = page.split("\n").filter((line) => line.startsWith("| "));
    for (const name of known)
      expect(
        rows.some((row) => row.split("|")[1]?.includes(name)),
        name,
      ).toBe(true);
  });

  it("are named where they ask for what has no effect", () => {
    const given = {
      httpProxy: "http://p",
      noProxy: "a",
      serverType: "bm",
      registryEnabled: true,
      insecureRegistry: "r",
    };
    expect(
      unused({ ...given, dockerStorageDriver: "overlay2" }, { masterFlavorID: "m", floatingIPEnabled: false }),
    ).toEqual([
      "master_flavor_id",
      "http_proxy",
      "no_proxy",
      "registry_enabled",
      "server_type",
      "insecure_registry",
      "docker_storage_driver",
      "floating_ip_enabled",
    ]);
    expect(unused({ httpProxy: "http://p", httpsProxy: 'p:3128"', noProxy: "a b" }, { nodeProxies: true })).toEqual([
      "https_proxy",
    ]);
    expect(unused({ insecureRegistry: "r:5000" }, { nodeRegistry: true })).toEqual([]);
    expect(unused({ insecureRegistry: "http://r" }, { nodeRegistry: true })).toEqual(["insecure_registry"]);
    expect(unused({ serverType: "vm", registryEnabled: false, imageID: "i" }, { floatingIPEnabled: true })).toEqual([]);
  });
});
