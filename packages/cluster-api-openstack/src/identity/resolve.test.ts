import { CausewayError } from "@causeway/foundation";
import type { Secret } from "@causeway/kubernetes";
import { describe, expect, it } from "vitest";
import { readIdentity } from "./resolve.ts";

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
  data: Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Buffer.from(v).toString("base64")])),
});
const reference = { name: "cloud", cloudName: "one" };

describe("readIdentity", () => {
  it("reads the entry, with the authority and the region next to it (D3)", () => {
    const config = readIdentity(
      secret({ "clouds.yaml": yaml, cacert: "PEM" }),
      { ...reference, region: "Two" },
      "default",
    );
    expect(config).toMatchObject({ region: "Two", tls: { ca: "PEM" } });
    expect(readIdentity(secret({ "clouds.yaml": yaml }), reference, "default").region).toBe("RegionOne");
  });

  const refusals: [string, Secret | undefined, object, string][] = [
    ["no Secret", undefined, {}, "IDENTITY_SECRET_NOT_FOUND"],
    ["a Secret without the key", secret({ other: "x" }), {}, "IDENTITY_SECRET_INVALID"],
    ["an entry that is not there", secret({ "clouds.yaml": yaml }), { cloudName: "two" }, "CLOUD_NOT_FOUND"],
    ["a ClusterIdentity", secret({ "clouds.yaml": yaml }), { type: "ClusterIdentity" }, "IDENTITY_TYPE_NOT_SERVED"],
  ];
  it.each(refusals)("refuses %s without revealing the password", (_name, given, change, code) => {
    try {
      readIdentity(given, { ...reference, ...change }, "default");
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(CausewayError);
      expect((error as CausewayError).code).toBe(code);
      expect(JSON.stringify(error) + String(error)).not.toContain("hidden-word");
    }
  });
});
