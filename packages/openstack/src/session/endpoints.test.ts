import { describe, expect, it } from "vitest";
import { baseUrl, identityUrl, versionUrl } from "./endpoints.ts";
import type { ServiceName } from "../types/service-name.ts";
import { compareVersions, negotiate } from "./microversion.ts";

describe("a service's routes are appended to", () => {
  it.each<[ServiceName, string, string]>([
    ["network", "http://c:9696", "http://c:9696/v2.0"],
    ["network", "http://c:9696/", "http://c:9696/v2.0"],
    ["network", "https://c/network/v2.0/", "https://c/network/v2.0"],
    ["image", "http://c:9292", "http://c:9292/v2"],
    ["image", "http://c:9292/v2/", "http://c:9292/v2"],
    ["load-balancer", "http://c:9876", "http://c:9876/v2/lbaas"],
    ["load-balancer", "http://c:9876/v2.0", "http://c:9876/v2/lbaas"],
    ["load-balancer", "https://c/load-balancer/v2/", "https://c/load-balancer/v2/lbaas"],
    ["load-balancer", "https://c/load-balancer/v2.0/lbaas", "https://c/load-balancer/v2/lbaas"],
    ["compute", "http://c:8774/v2.1/", "http://c:8774/v2.1"],
    ["block-storage", "http://c:8776/v3/p1", "http://c:8776/v3/p1"],
  ])("%s %s → %s", (service, endpoint, base) => expect(baseUrl(service, endpoint)).toBe(base));
});

it.each<[ServiceName, string, string | undefined]>([
  ["compute", "http://c:8774/v2.1", "http://c:8774/v2.1/"],
  ["compute", "http://c/compute/v2.1/p1", "http://c/compute/v2.1/"],
  ["block-storage", "http://c:8776/v3/p1", "http://c:8776/v3/"],
  ["network", "http://c:9696/v2.0", undefined],
])("%s at %s returns its versions at %s", (service, base, url) => expect(versionUrl(service, base)).toBe(url));

it.each([
  "https://c/identity",
  "https://c/identity/",
  "https://c/identity/v3",
  "https://c/identity/v3/",
  "https://c/identity/v2.0",
])("the auth_url %s is used as Keystone v3", (url) => expect(identityUrl(url)).toBe("https://c/identity/v3"));

describe("microversions of a service", () => {
  it("are compared as numbers", () => {
    expect(["2.9", "2.10", "2.1", "3.0"].sort(compareVersions)).toEqual(["2.1", "2.9", "2.10", "3.0"]);
  });
  it.each([
    [{ version: { version: "2.79" } }, "2.79"],
    [
      {
        versions: [
          { id: "v2.0", version: "" },
          { id: "v2.1", version: "2.100" },
        ],
      },
      "2.96",
    ],
    [{ version: { version: "" } }, undefined],
    ["<html>", undefined],
  ])("of %j are %s", (document, version) => expect(negotiate("compute", document)).toBe(version));
});
