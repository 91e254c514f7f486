import { expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Call } from "../contract/call.ts";
import { admissionChain } from "./chain.ts";
import type { AdmissionPlugin, Attempt } from "../contract/admission.ts";

const map = (name: string): KubeObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const attempt: Attempt = {
  call: {} as Call,
  operation: "CREATE",
  kind: { group: "", version: "v1", kind: "ConfigMap" },
  object: map("a"),
  old: undefined,
  options: {},
};

function appending(letter: string, asked: boolean): AdmissionPlugin {
  return {
    concerns: () => asked,
    mutate: async ({ object }) => map(`${object?.metadata.name ?? ""}${letter}`),
    validate: async () => {
      throw new Error(`${letter} refuses`);
    },
  };
}

test("an empty chain concerns no attempt", () => {
  expect(admissionChain([appending("b", false)]).concerns(attempt.call, "CREATE", "mutate")).toBe(false);
});

test("each sees what the one before made, and those not concerned see nothing", async () => {
  const chain = admissionChain([appending("b", true), appending("c", false), appending("d", true)]);
  expect((await chain.mutate(attempt))?.metadata.name).toBe("abd");
});

test("the first refusal is the answer", async () => {
  const chain = admissionChain([appending("b", false), appending("c", true), appending("d", true)]);
  await expect(chain.validate(attempt)).rejects.toThrow("c refuses");
});
