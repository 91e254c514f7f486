import { CausewayError } from "@causeway/foundation";
import { secretData, type Secret } from "@causeway/kubernetes";
import { describe, expect, it } from "vitest";
import { readIdentity, secretKeyOf } from "./resolve.ts";

const yaml = `
clouds:
  one:
    region_name: RegionOne
    auth: {auth_url: "https://keystone.example.org/v3", username: u, password: hidden-word, project_name: p, user_domain_name: Default, project_domain_name: Default}
`;
const secret = (data: Record<string, string>): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cloud", namespace: "default" },
  data: secretData(data),
});
const reference = { name: "cloud", cloudName: "one" };
const key = { namespace: "default", name: "cloud" };

describe("readIdentity", () => {
  it("reads the entry, with the authority and the region next to it", () => {
    const config = readIdentity(secret({ "clouds.yaml": yaml, cacert: "PEM" }), { ...reference, region: "Two" }, key);
    expect(config).toMatchObject({ region: "Two", tls: { ca: "PEM" } });
    expect(readIdentity(secret({ "clouds.yaml": yaml }), reference, key).region).toBe("RegionOne");
  });

  const refusals: [string, Secret | undefined, object, string][] = [
    ["no Secret", undefined, {}, "IDENTITY_SECRET_NOT_FOUND"],
    ["a Secret without the key", secret({ other: "x" }), {}, "IDENTITY_SECRET_INVALID"],
    ["an entry that is not there", secret({ "clouds.yaml": yaml }), { cloudName: "two" }, "CLOUD_NOT_FOUND"],
  ];
  it.each(refusals)("refuses %s without revealing the password", (_name, given, change, code) => {
    try {
      readIdentity(given, { ...reference, ...change }, key);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(CausewayError);
      expect((error as CausewayError).code).toBe(code);
      expect(JSON.stringify(error) + String(error)).not.toContain("hidden-word");
    }
  });
});

describe("secretKeyOf", () => {
  const secretRef = { namespace: "vault", name: "shared" };
  const find = (selector: object | undefined, labels: Record<string, string>) =>
    secretKeyOf(
      { reference: { ...reference, type: "ClusterIdentity" }, namespace: "team-a" },
      {
        clusterIdentity: (name) => ({
          apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
          kind: "OpenStackClusterIdentity",
          metadata: { name },
          spec: { secretRef, ...(selector ? { namespaceSelector: selector } : {}) },
        }),
        namespace: (name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } }),
      },
    );
  const expression = (operator: string, values?: string[]) => ({
    matchExpressions: [{ key: "team", operator, ...(values ? { values } : {}) }],
  });
  const cases: [string, object | undefined, Record<string, string>, boolean][] = [
    ["without a selector", undefined, {}, true],
    ["with an empty selector", {}, {}, true],
    ["with an equal label", { matchLabels: { team: "a" } }, { team: "a" }, true],
    ["with another label", { matchLabels: { team: "a" } }, { team: "b" }, false],
    ["with a value in the set", expression("In", ["a", "b"]), { team: "b" }, true],
    ["with a value outside the set", expression("In", ["a"]), {}, false],
    ["with a value that must not be", expression("NotIn", ["a"]), { team: "a" }, false],
    ["with a label that must be there", expression("Exists"), {}, false],
    ["with a label that must not be there", expression("DoesNotExist"), {}, true],
    ["with an operator that does not exist", expression("Near"), { team: "a" }, false],
  ];
  it.each(cases)("decides about an OpenStackClusterIdentity %s", (_name, selector, labels, allowed) => {
    if (allowed) expect(find(selector, labels)).toEqual(secretRef);
    else expect(() => find(selector, labels)).toThrow(expect.objectContaining({ code: "IDENTITY_NOT_ALLOWED" }));
  });

  it("refuses an OpenStackClusterIdentity that does not exist", () => {
    const nothing = { clusterIdentity: () => undefined, namespace: () => undefined };
    const place = { reference: { ...reference, type: "ClusterIdentity" as const }, namespace: "default" };
    expect(() => secretKeyOf(place, nothing)).toThrow(expect.objectContaining({ code: "IDENTITY_NOT_FOUND" }));
  });
});
