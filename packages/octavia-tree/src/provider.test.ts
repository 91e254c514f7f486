import { expect, test } from "vitest";
import { defaultProvider, isSameProvider, limitsOf } from "./provider.ts";
import type { OctaviaFacts } from "./octavia-facts.ts";

/** From which version of Octavia's API on a provider can do something, where the provider itself can. */
const SINCE = [
  ["timeouts", "2.0", "2.1"],
  ["tags", "2.4", "2.5"],
  ["flavors", "2.5", "2.6"],
  ["allowedCidrs", "2.11", "2.12"],
  ["availabilityZones", "2.13", "2.14"],
  ["additionalVips", "2.25", "2.26"],
] as const;

test.each(SINCE)(
  "amphora supports %s after API version %s, from %s on, and where the version is not known",
  (what, before, since) => {
    expect(limitsOf("amphora", before)[what]).toBe(false);
    expect(limitsOf("amphora", since)[what]).toBe(true);
    expect(limitsOf("amphora")[what]).toBe(true);
    expect(limitsOf(undefined, "2.99")[what]).toBe(true);
  },
);

test.each(SINCE)("provider ovn supports %s only if it is tags, whatever the API version", (what) => {
  expect(limitsOf("ovn", "2.99")[what]).toBe(what === "tags");
  expect(limitsOf("ovn")[what]).toBe(what === "tags");
  expect(limitsOf("ovn", "2.0")[what]).toBe(false);
});

test("health checks at another port need API version 2.16, except for TCP", () => {
  expect(limitsOf("amphora", "2.15").healthPort).toEqual(["TCP"]);
  expect(limitsOf("amphora", "2.16").healthPort).toEqual(["TCP", "UDP", "SCTP"]);
  expect(limitsOf("amphora").healthPort).toEqual(["TCP", "UDP", "SCTP"]);
  expect(limitsOf("ovn", "2.16").healthPort).toEqual([]);
});

test.each([
  [undefined, "amphora", true],
  ["amphora", "amphora", true],
  ["a third", "a third", true],
  ["ovn", "ovn", false],
])("provider %s has the limits of %s, with HTTP: %s", (given, provider, http) => {
  expect(limitsOf(given)).toMatchObject({
    provider,
    http,
    monitorInCreate: http,
    algorithm: http ? undefined : "SOURCE_IP_PORT",
  });
});

test.each<[readonly string[], string | undefined]>([
  [[], undefined],
  [["ovn", "amphora"], "amphora"],
  [["ovn", "octavia"], "octavia"],
  [["third", "ovn"], "ovn"],
  [["third", "fourth"], "third"],
])("of providers %j a new load balancer gets %s", (providers, expected) => {
  expect(defaultProvider({ providers } as OctaviaFacts)).toBe(expected);
});

test.each([
  ["amphora", "octavia", true],
  ["amphorav2", "amphora", true],
  ["octavia", "amphorav2", true],
  ["ovn", "ovn", true],
  ["ovn", "amphora", false],
])("%s and %s are the same provider: %s", (a, b, same) => {
  expect(isSameProvider(a, b)).toBe(same);
});
