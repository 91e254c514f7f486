import { describe, expect, test } from "vitest";
import { CausewayError } from "@causeway/foundation";
import { CHECK, checkOf } from "../cipher/plan-check.ts";
import { isFresh, isKeyId, survivesOutage } from "./plan-key.ts";
import { isFinal, lost, outcomeOf, problemOf } from "./plan-reading.ts";

const ID = "0b9a2f1e-5c7d-4a3b-9e8f-112233445566";
const failed = (code: string, details: Record<string, string> = {}) =>
  new CausewayError(code, "it failed", { details });

describe("a key that is held", () => {
  const rules = { lifetime: 10, outage: 100 };
  const held = { key: new Uint8Array(), read: 1_000 };
  test.each([
    [1_009, true, true],
    [1_010, false, true],
    [1_099, false, true],
    [1_100, false, false],
  ])("at %i is used without a read: %s, and during an outage: %s", (now, fresh, survives) => {
    expect([isFresh(held, now, rules), survivesOutage(held, now, rules)]).toEqual([fresh, survives]);
  });

  test("that is none is used at no time", () => {
    expect([isFresh(undefined, 0, rules), survivesOutage(undefined, 0, rules)]).toEqual([false, false]);
  });

  test.each([
    [ID, true],
    [ID.toUpperCase(), true],
    [`${ID}/payload`, false],
    ["../containers", false],
    ["", false],
  ])("may have the id %s: %s", (id, expected) => expect(isKeyId(id)).toBe(expected));
});

describe("a payload", () => {
  const check = new Uint8Array([1]);
  test.each([16, 24, 32])("of %i bytes is a key", (length) => {
    expect(problemOf(ID, { length, check }, undefined)).toBeUndefined();
    expect(problemOf(ID, { length, check }, new Uint8Array([1]))).toBeUndefined();
  });

  test("of another length is none", () => {
    expect(problemOf(ID, { length: 33, check }, undefined)).toMatchObject({
      code: "KMS_KEY_INVALID",
      hint: "Create a symmetric secret of 256 bits: `openstack secret order create key --algorithm aes --bit-length 256`.",
    });
  });

  test("that differs from an earlier one is not used", () => {
    expect(problemOf(ID, { length: 32, check }, new Uint8Array([2]))).toMatchObject({
      code: "KMS_KEY_CHANGED",
      hint: "Check that Barbican itself responds at its address. Before a restart of the plugin: what it read first may be the wrong one.",
    });
  });

  test("has the check value that stored annotations have", () => {
    expect(CHECK).toBe("key-check.kms.causeway.dev");
    expect(Buffer.from(checkOf(Buffer.alloc(32, 7))).toString("hex")).toBe("ccd76bce4e73d98deb9183b7e3238047");
  });
});

test.each([
  ["KMS_KEY_CHANGED", "changed"],
  ["KMS_KEY_INVALID", "refused"],
  ["OPENSTACK_UNEXPECTED_ANSWER", "refused"],
  ["OPENSTACK_UNREACHABLE", "failed"],
])("a reading that ended with %s %s", (code, outcome) => {
  expect(outcomeOf(failed(code))).toBe(outcome);
});

describe("Barbican's words that a secret does not exist", () => {
  const words = { serviceType: "Not Found", serviceMessage: "Secret not found." };
  test.each<[string, unknown, boolean]>([
    ["are final", failed("OPENSTACK_NOT_FOUND", words), true],
    ["are final where it is hidden", failed("OPENSTACK_FORBIDDEN", { ...words, serviceType: "Forbidden" }), true],
    [
      "are not those of a proxy",
      failed("OPENSTACK_NOT_FOUND", { serviceType: "Not Found", serviceMessage: "no page" }),
      false,
    ],
    ["have the title of their status", failed("OPENSTACK_NOT_FOUND", { ...words, serviceType: "Forbidden" }), false],
    ["are not any failure", failed("OPENSTACK_UNREACHABLE", words), false],
    ["are not any error", Object.assign(new Error("x"), { code: "OPENSTACK_NOT_FOUND", details: words }), false],
  ])("%s", (_title, error, final) => expect(isFinal(error)).toBe(final));

  test("say so where no key is held, with what can be done", () => {
    expect(lost(ID, failed("OPENSTACK_NOT_FOUND", words))).toMatchObject({
      code: "KMS_KEY_NOT_FOUND",
      hint: "Restore the secret: data that was encrypted with it cannot be read without it. See its ACL for another user's access.",
    });
  });
});

describe("without a key", () => {
  test.each(["KMS_KEY_CHANGED", "KMS_KEY_INVALID"])("%s is said as it is", (code) => {
    const error = failed(code);
    expect(lost(ID, error)).toBe(error);
  });

  test("any other failure is Barbican's absence", () => {
    expect(lost(ID, new Error("no connection"))).toMatchObject({
      code: "KMS_UNAVAILABLE",
      message: `Barbican cannot be reached, and the key ${ID} is not cached: no connection`,
      hint: "Check that Keystone and Barbican are up and reachable from here, and that nothing else responds in their place.",
    });
  });
});
