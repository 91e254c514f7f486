import { describe, expect, it } from "vitest";
import { MagnumError } from "./error.ts";
import { readFields, type Fields } from "./fields.ts";

const fields: Fields = { node_taints: { type: "taints" } };
const read = (node_taints: unknown) => readFields({ node_taints }, fields, "nodegroup")["node_taints"];
const taint = (more: object = {}) => ({ key: "dedicated", effect: "NoSchedule", ...more });

function refusal(node_taints: unknown): readonly [number, string] {
  try {
    read(node_taints);
  } catch (error) {
    if (error instanceof MagnumError) return [error.status, error.message];
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("taints of a node group", () => {
  it.each<[string, object, object]>([
    ["a value", taint({ value: "db" }), taint({ value: "db" })],
    ["an empty value, as none", taint({ value: "" }), taint()],
    ["null as a value, as none", taint({ value: null }), taint()],
    ["no value", taint(), taint()],
    ["the longest value", taint({ value: "x".repeat(63) }), taint({ value: "x".repeat(63) })],
    ["a key with a prefix", taint({ key: "example.com/db" }), taint({ key: "example.com/db" })],
    [
      "the longest key",
      taint({ key: `${"a".repeat(253)}/${"b".repeat(63)}` }),
      taint({ key: `${"a".repeat(253)}/${"b".repeat(63)}` }),
    ],
  ])("are accepted with %s", (_, given, expected) => expect(read([given])).toEqual([expected]));

  it("are accepted with one key and several effects", () => {
    const both = [taint(), taint({ effect: "NoExecute" })];
    expect(read(both)).toEqual(both);
  });

  it.each<[string, object, string]>([
    ["a value of 64 characters", taint({ value: "x".repeat(64) }), ".value 'xxx"],
    ["a value with a space", taint({ value: "a b" }), ".value 'a b'"],
    ["a value that is no text", taint({ value: 1 }), ".value must be a text"],
    ["no key", taint({ key: "" }), ".key is required"],
    ["a key of 64 characters", taint({ key: "k".repeat(64) }), ".key 'kkk"],
    ["a key with a space", taint({ key: "a b" }), ".key 'a b'"],
    ["a key with an empty prefix", taint({ key: "/db" }), ".key '/db'"],
    ["a key with a prefix of 254 characters", taint({ key: `${"a".repeat(254)}/b` }), ".key 'aaa"],
    ["a key whose prefix has an empty part", taint({ key: "a..b/c" }), ".key 'a..b/c'"],
    ["an unknown effect", taint({ effect: "Never" }), ".effect must be one of"],
  ])("are refused at once with %s", (_, given, why) => {
    const [status, message] = refusal([taint({ key: "first" }), given]);
    expect(status).toBe(409);
    expect(message).toContain(`node_taints is invalid: node_taints[1]${why}`);
  });

  it("are refused with one key and effect twice, whatever their values are", () => {
    expect(refusal([taint({ value: "a" }), taint({ value: "b" })])).toEqual([
      409,
      "node_taints is invalid: node_taints[1] has key and effect of node_taints[0] (dedicated:NoSchedule).",
    ]);
  });
});
