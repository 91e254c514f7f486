import { describe, expect, test } from "vitest";
import { annotations, type ServiceAnnotation } from "../config/annotations.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { plan } from "./plan.ts";

const os = (name: string) => `loadbalancer.openstack.org/${name}`;
const nodes = [aNode("n1", { address: "10.0.0.1" })];
const about = ["LoadBalancerAnnotationUnknown", "LoadBalancerAnnotationInvalid"];

/** What is said of a Service's annotations, by reason. */
function said(given: Record<string, string>): Record<string, string> {
  const world = new ModelWorld(aService({}, given), nodes);
  world.converge();
  const events = plan(world.observe(), 0).events ?? [];
  return Object.fromEntries(events.filter((e) => about.includes(e.reason)).map((e) => [e.reason, e.message]));
}

describe("annotations that cannot be followed are named in one event", () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    [
      "a key with a slip names the one that was meant",
      { [os("keep-floating-ip")]: "true" },
      {
        LoadBalancerAnnotationUnknown: `${os("keep-floating-ip")} is not known; is "${os("keep-floatingip")}" meant?`,
      },
    ],
    [
      "a flag that is neither true nor false",
      { [os("x-forwarded-for")]: "yes" },
      {
        LoadBalancerAnnotationInvalid: `${os("x-forwarded-for")} is "yes", and not true or false; its default is used`,
      },
    ],
    [
      "a number with a letter in it",
      { [os("connection-limit")]: "1o0" },
      {
        LoadBalancerAnnotationInvalid: `${os("connection-limit")} is "1o0", and not a whole number; its default is used`,
      },
    ],
    [
      "a version of the PROXY protocol that does not exist",
      { [os("proxy-protocol")]: "v3" },
      {
        LoadBalancerAnnotationInvalid: `${os("proxy-protocol")} is "v3", and not one of true, v1, v2, false; its default is used`,
      },
    ],
    ["an empty value says nothing", { [os("connection-limit")]: "" }, {}],
    ["a negative number is one", { [os("connection-limit")]: "-1" }, {}],
    ["another program's key is its own", { "example.org/connection-limit": "many" }, {}],
  ])("%s", (_what, given, expected) => {
    expect(said(given)).toEqual(expected);
  });

  test("of a thousand unknown keys five are named", () => {
    const many = Array.from({ length: 1_000 }, (_, i) => [os(`key-${i}`), "x"]);
    expect(said(Object.fromEntries(many))["LoadBalancerAnnotationUnknown"]?.match(/is not known/g)).toHaveLength(5);
  });

  test("the defaults of the table, written out, say nothing", () => {
    const rows: readonly ServiceAnnotation[] = Object.values(annotations);
    const written = rows.flatMap((row) => (row.default === undefined ? [] : [[row.key, String(row.default)]]));
    expect(said(Object.fromEntries(written))).toEqual({});
  });
});
