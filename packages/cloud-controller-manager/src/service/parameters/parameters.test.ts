import { describe, expect, test } from "vitest";
import { defaultCloudConfig, type LoadBalancerConfig, type LoadBalancerPlacement } from "../../config/config.ts";
import { aService } from "../../testing/objects.ts";
import { parametersOf, type Parameters } from "./parameters.ts";

const os = (name: string) => `loadbalancer.openstack.org/${name}`;

interface Given {
  readonly annotations?: Record<string, string>;
  readonly config?: Partial<LoadBalancerConfig>;
  readonly gold?: LoadBalancerPlacement;
}

function parameters({ annotations = {}, config = {}, gold }: Given): Parameters {
  const classes = new Map(gold ? [["gold", gold]] : []);
  const named = gold ? { [os("class")]: "gold" } : {};
  const service = aService({}, { ...named, ...annotations });
  return parametersOf(service, { ...defaultCloudConfig().loadBalancer, ...config, classes });
}

describe("the source of a floating IP is set as a whole by class, else Service, else cloud.conf", () => {
  const id = { floatingSubnetId: "conf-id" };
  test.each<[string, Given, readonly (string | undefined)[]]>([
    ["cloud.conf's id", { config: id }, ["conf-id", undefined, undefined]],
    [
      "cloud.conf's id before its name",
      { config: { ...id, floatingSubnet: "pub*" } },
      ["conf-id", undefined, undefined],
    ],
    [
      "a Service's name before cloud.conf's id",
      { annotations: { [os("floating-subnet")]: "own*" }, config: id },
      [undefined, "own*", undefined],
    ],
    [
      "a Service's tags before cloud.conf's name, which is not mixed in",
      { annotations: { [os("floating-subnet-tags")]: "a,b" }, config: { floatingSubnet: "pub*" } },
      [undefined, undefined, "a,b"],
    ],
    [
      "a class's name before a Service's id",
      { annotations: { [os("floating-subnet-id")]: "own" }, gold: { floatingSubnet: "gold*" } },
      [undefined, "gold*", undefined],
    ],
    [
      "a Service's id next to a class that says another thing",
      { annotations: { [os("floating-subnet-id")]: "own" }, gold: { subnetId: "s" } },
      ["own", undefined, undefined],
    ],
    [
      "an empty annotation says nothing",
      { annotations: { [os("floating-subnet")]: "" }, config: id },
      ["conf-id", undefined, undefined],
    ],
  ])("%s", (_what, given, expected) => {
    const { floatingSubnetId, floatingSubnet, floatingSubnetTags } = parameters(given);
    expect([floatingSubnetId, floatingSubnet, floatingSubnetTags]).toEqual(expected);
  });
});

describe("the floating network", () => {
  test.each<[string, Given, string | undefined]>([
    [
      "of the class is before the Service's",
      { annotations: { [os("floating-network-id")]: "own" }, gold: { floatingNetworkId: "g" } },
      "g",
    ],
    [
      "of the Service is before cloud.conf's",
      { annotations: { [os("floating-network-id")]: "own" }, config: { floatingNetworkId: "c" } },
      "own",
    ],
    [
      "is to be found where the Service says nothing in so many words",
      { annotations: { [os("floating-network-id")]: "" }, config: { floatingNetworkId: "c" } },
      undefined,
    ],
  ])("%s", (_what, given, expected) => {
    expect(parameters(given).floatingNetworkId).toBe(expected);
  });
});

describe("an integer annotation is read as Go's strconv.Atoi reads it; another value is the default", () => {
  test.each([
    ["5", 5],
    ["+5", 5],
    ["-3", -3],
    ["007", 7],
    ["9223372036854775808", -1],
    ["9".repeat(5_000), -1],
    ["1e3", -1],
    ["0x10", -1],
    ["1_000", -1],
    [" 5", -1],
    ["5\n", -1],
    ["", -1],
    ["++5", -1],
  ])("%j", (value, expected) => {
    expect(parameters({ annotations: { [os("connection-limit")]: value } }).connectionLimit).toBe(expected);
  });
});

test("a tag that is named twice is sent once", () => {
  expect(parameters({ annotations: { [os("tags")]: "a, b,a" } }).tags).toEqual(["a", "b"]);
  const forged = { annotations: { [os("tags")]: "k8s-owner=c1/other, mine, k8s-sharer=c1/other" } };
  expect(parameters(forged).tags).toEqual(["mine"]);
});
