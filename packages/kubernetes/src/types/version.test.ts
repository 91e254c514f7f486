import fc from "fast-check";
import { expect, test } from "vitest";
import { compareVersions, readVersion } from "./version.ts";

test.each<readonly [string, ReturnType<typeof readVersion>]>([
  ["v1.34.2", { major: 1, minor: 34, patch: 2, prerelease: "", build: "" }],
  ["1.34.2", { major: 1, minor: 34, patch: 2, prerelease: "", build: "" }],
  ["v1.34.0-rc.1+vendor.3", { major: 1, minor: 34, patch: 0, prerelease: "rc.1", build: "vendor.3" }],
  ["v1.34", undefined],
  ["1.34.2.1", undefined],
  ["latest", undefined],
  ["", undefined],
])("the version %j is read or refused", (text, expected) => expect(readVersion(text)).toEqual(expected));

test.each<readonly [string, string, -1 | 0 | 1]>([
  ["v1.34.0", "v1.34.0", 0],
  ["v1.34.0", "1.34.0", 0],
  ["v1.34.0", "v1.34.1", -1],
  ["v1.9.0", "v1.10.0", -1],
  ["v1.34.9", "v1.34.10", -1],
  ["v2.0.0", "v1.99.9", 1],
  // A pre-release comes before its release, and after the release before.
  ["v1.34.0-rc.1", "v1.34.0", -1],
  ["v1.34.0-rc.1", "v1.33.9", 1],
  ["v1.34.0-alpha.1", "v1.34.0-beta.0", -1],
  ["v1.34.0-rc.2", "v1.34.0-rc.10", -1],
  ["v1.34.0-rc", "v1.34.0-rc.1", -1],
  ["v1.34.0-1", "v1.34.0-rc", -1],
  // Builds have no order.
  ["v1.34.0+a", "v1.34.0+b", 0],
  ["v1.34.0-rc.1+b", "v1.34.0+a", -1],
  // What is not a version comes before all that are.
  ["latest", "v0.0.1", -1],
  ["latest", "", 0],
])("the order of the versions %j and %j is %j", (a, b, expected) => {
  expect(compareVersions(a, b)).toBe(expected);
  expect(compareVersions(b, a)).toBe(expected === 0 ? 0 : -expected);
});

test("the order of versions is one: of any three, none comes before one that comes before it", () => {
  const identifier = fc.constantFrom("0", "1", "10", "2", "rc", "alpha", "a-b");
  const version = fc
    .tuple(fc.nat(2), fc.nat(2), fc.array(identifier, { maxLength: 3 }))
    .map(([minor, patch, rest]) => `v1.${minor}.${patch}${rest.length > 0 ? `-${rest.join(".")}` : ""}`);
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
    }),
  );
});
